import type {
  BaseSession,
  Driver,
  FaultKind,
  Finding,
  LogSession,
  QueueSession,
} from '../driver/driver.ts';
import type { TopologyBook } from '../driver/topology-book.ts';
import {
  connectAuth,
  connectForbidden,
  connectTopologyDrift,
  connectTopologyMissing,
  connectUnreachable,
} from '../errors/create.ts';
import { MessagingError } from '../errors/messaging-error.ts';
import type { EventOutlet } from '../observe/events.ts';
import type { Clock } from '../time/clock.ts';
import { settledWithin, wait } from '../time/wait.ts';
import { type BackoffOptions, backoffMs } from './backoff.ts';

export type TopologyMode = 'create' | 'verify' | 'assume';
export type Session = QueueSession | LogSession;

export interface ConnectionOptions {
  readonly driver: Driver;
  readonly book: TopologyBook;
  readonly mode: TopologyMode;
  readonly clock: Clock;
  readonly random: () => number;
  readonly events: EventOutlet;
  readonly backoff: BackoffOptions;
  /** Longest wait for the first session. */
  readonly startTimeoutMs: number;
  /** Called with every new session, after its topology was applied. A rejection costs the session. */
  readonly opened: (session: Session) => Promise<void>;
  readonly lost: (error: unknown) => void;
}

/** Longest wait for a session to close before it is left behind. */
const CLOSE_DEADLINE_MS = 5_000;

/** Keeps one session open: full-jitter back-off with a cap, topology applied again each time. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #stop = new AbortController();
  #session: Session | undefined;
  #running: Promise<void> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get session(): Session | undefined {
    return this.#session;
  }

  /**
   * Resolves with the first working session.
   * @throws MSG_CONNECT_AUTH, MSG_CONNECT_FORBIDDEN, MSG_CONNECT_TOPOLOGY_MISSING,
   * MSG_CONNECT_TOPOLOGY_DRIFT at once; MSG_CONNECT_UNREACHABLE after `startTimeoutMs`.
   */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#running = this.#supervise(resolve, reject);
    });
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('closing'));
    await this.#running;
  }

  async #supervise(ready: () => void, failed: (error: unknown) => void): Promise<void> {
    const { clock, events, driver, backoff, random, startTimeoutMs } = this.#options;
    const giveUpAtMs = clock.now() + startTimeoutMs;
    let started = false;
    let tries = 0;
    while (!this.#stop.signal.aborted) {
      try {
        const session = await this.#open();
        started = true;
        tries = 0;
        ready();
        await this.#live(session);
      } catch (error) {
        if (this.#stop.signal.aborted) break;
        tries += 1;
        const nextTryInMs = backoffMs(tries - 1, random(), backoff);
        const late = clock.now() + nextTryInMs > giveUpAtMs;
        if (!started && (late || this.#isFatal(error))) return failed(this.#described(error));
        events.emit({
          event: 'connection.failed',
          broker: driver.broker,
          error,
          tries,
          nextTryInMs,
        });
        await wait(clock, nextTryInMs, this.#stop.signal);
      }
    }
    if (!started) failed(this.#described(new Error('closed before the first connection')));
  }

  async #open(): Promise<Session> {
    const { driver, book, clock, events, opened } = this.#options;
    const broker = driver.broker;
    const session = await driver.open({
      plan: book,
      clock,
      signal: this.#stop.signal,
      notice: ({ kind }) => events.emit({ event: `connection.${kind}`, broker }),
    });
    try {
      await this.applyTopology(session);
      this.#stop.signal.throwIfAborted();
      this.#session = session;
      await Promise.race([opened(session), session.lost.then((fault) => Promise.reject(fault))]);
      events.emit({ event: 'connection.opened', broker, session: session.id });
      return session;
    } catch (error) {
      this.#drop(error);
      await this.#closed(session);
      throw error;
    }
  }

  /** By the mode of the bus. @throws MSG_CONNECT_FORBIDDEN, MSG_CONNECT_TOPOLOGY_MISSING, MSG_CONNECT_TOPOLOGY_DRIFT */
  async applyTopology(session: BaseSession): Promise<void> {
    const { driver, book, mode, events } = this.#options;
    if (mode === 'assume') return;
    const drift = await session.apply(book.resources, mode).catch((error: unknown) => {
      throw driver.classify(error) === 'auth'
        ? connectForbidden({ broker: driver.broker, cause: error })
        : error;
    });
    const missing = drift.filter(({ actual }) => actual === 'missing');
    if (missing.length > 0) {
      const resources = missing.map(({ resource }) => resource);
      throw connectTopologyMissing({ broker: driver.broker, resources, mode });
    }
    const conflicts = drift.filter(({ actual }) => actual !== undefined);
    if (conflicts.length > 0) {
      throw connectTopologyDrift({ broker: driver.broker, drift: conflicts });
    }
    if (drift.length > 0) events.emit({ event: 'topology.drift', broker: driver.broker, drift });
    const findings: readonly Finding[] = await session.doctor(book.topology);
    for (const finding of findings) {
      events.emit({ event: 'preflight.finding', source: driver.broker, finding });
    }
  }

  async #live(session: Session): Promise<void> {
    const { driver, events } = this.#options;
    const stop = new Promise<undefined>((resolve) => {
      if (this.#stop.signal.aborted) resolve(undefined);
      else this.#stop.signal.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    const fault = await Promise.race([session.lost, stop]);
    if (fault !== undefined) {
      events.emit({
        event: 'connection.lost',
        broker: driver.broker,
        error: fault.error ?? fault,
      });
      this.#drop(fault.error ?? new Error(`session lost: ${fault.kind}`));
    }
    await this.#closed(session);
    this.#session = undefined;
  }

  #drop(error: unknown): void {
    if (this.#session === undefined) return;
    this.#session = undefined;
    this.#options.lost(error);
  }

  async #closed(session: Session): Promise<void> {
    await settledWithin(this.#options.clock, CLOSE_DEADLINE_MS, session.close());
  }

  /** Told at once: trying again would only repeat it. */
  #isFatal(error: unknown): boolean {
    return MessagingError.is(error) || this.#options.driver.classify(error) === 'auth';
  }

  #described(error: unknown): unknown {
    const { driver, startTimeoutMs } = this.#options;
    if (MessagingError.is(error)) return error;
    const kind: FaultKind = isFault(error) ? error.kind : driver.classify(error);
    if (kind === 'auth') return connectAuth({ broker: driver.broker, cause: error });
    return connectUnreachable({ broker: driver.broker, waitedMs: startTimeoutMs, cause: error });
  }
}

function isFault(error: unknown): error is { kind: FaultKind } {
  return typeof error === 'object' && error !== null && 'kind' in error && 'error' in error;
}
