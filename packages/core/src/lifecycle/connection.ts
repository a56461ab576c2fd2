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
  connectClosed,
  connectForbidden,
  connectTopologyDrift,
  connectTopologyMissing,
  connectUnreachable,
} from '../errors/create.ts';
import { MessagingError } from '../errors/messaging-error.ts';
import type { EventOutlet } from '../observe/events.ts';
import type { Clock } from '../time/clock.ts';
import { settledWithin, wait } from '../time/wait.ts';
import { type BackoffOptions, backoffMs, Tries } from './backoff.ts';
import { SharedRun } from './shared-run.ts';

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
/** For what a broker that answers does at once, when nothing is left of the shutdown's time. */
const LAST_MS = 1_000;

/** Keeps one session open: full-jitter back-off with a cap, topology applied again each time. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #stop = new AbortController();
  readonly #reapplying = new WeakMap<Session, SharedRun>();
  #session: Session | undefined;
  #running: Promise<void> | undefined;
  #closeWithinMs = CLOSE_DEADLINE_MS;

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

  /** @param withinMs - A session that has not closed by then is left behind; 1 s at least, 5 s at most. */
  async close(withinMs: number = CLOSE_DEADLINE_MS): Promise<void> {
    this.#closeWithinMs = Math.min(Math.max(withinMs, LAST_MS), CLOSE_DEADLINE_MS);
    this.#stop.abort(new Error('closing'));
    await this.#running;
  }

  async #supervise(ready: () => void, failed: (error: unknown) => void): Promise<void> {
    const { clock, events, driver, backoff, random, startTimeoutMs } = this.#options;
    const giveUpAtMs = clock.now() + startTimeoutMs;
    const tries = new Tries(clock);
    let started = false;
    let last: unknown = new Error('the broker did not answer');
    // Whoever waits for the start does not wait longer for a broker that says nothing.
    const cancelLate = clock.after(startTimeoutMs, () => failed(this.#described(last)));
    while (!this.#stop.signal.aborted) {
      let nextTryInMs: number;
      try {
        const session = await this.#open();
        started = true;
        cancelLate();
        tries.opened();
        ready();
        await this.#live(session);
        nextTryInMs = backoffMs(tries.failed(), random(), backoff);
      } catch (error) {
        if (this.#stop.signal.aborted) break;
        last = error;
        nextTryInMs = backoffMs(tries.failed(), random(), backoff);
        const late = clock.now() + nextTryInMs > giveUpAtMs;
        if (!started && (late || this.#isFatal(error))) {
          cancelLate();
          return failed(this.#described(error));
        }
        events.emit({
          event: 'connection.failed',
          broker: driver.broker,
          error,
          tries: tries.count,
          nextTryInMs,
        });
      }
      // A session that was lost at once is a failed try as well: no storm of logins.
      await wait(clock, nextTryInMs, this.#stop.signal);
    }
    cancelLate();
    if (started) return;
    failed(connectClosed({ broker: driver.broker, reason: 'the bus was closed while it started' }));
  }

  async #open(): Promise<Session> {
    const { driver, book, clock, events } = this.#options;
    const broker = driver.broker;
    const session = await driver.open({
      plan: book,
      clock,
      signal: this.#stop.signal,
      notice: ({ kind }) => events.emit({ event: `connection.${kind}`, broker }),
    });
    const stopped = this.#stopped();
    const given = new AbortController();
    try {
      const lost = session.lost.then((fault) => Promise.reject(fault));
      // A broker that says nothing must not keep the bus from closing.
      await Promise.race([this.#prepare(session, given.signal), lost, stopped.promise]);
      this.#stop.signal.throwIfAborted();
      events.emit({ event: 'connection.opened', broker, session: session.id });
      return session;
    } catch (error) {
      given.abort(error);
      this.#drop(error);
      await this.#closed(session);
      throw error;
    } finally {
      stopped.end();
    }
  }

  /** @param given - Aborts when the session was given up meanwhile. */
  async #prepare(session: Session, given: AbortSignal): Promise<void> {
    await this.applyTopology(session);
    given.throwIfAborted();
    this.#session = session;
    await this.#options.opened(session);
  }

  /** Once more over a session that lives. Many sources can end at once: they share the work. */
  reapplyTopology(session: Session): Promise<void> {
    let shared = this.#reapplying.get(session);
    if (shared === undefined) {
      shared = new SharedRun(() => this.applyTopology(session));
      this.#reapplying.set(session, shared);
    }
    return shared.ask();
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
    const stopped = this.#stopped();
    const fault = await Promise.race([session.lost, stopped.promise]);
    stopped.end();
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

  /** Resolves at `close()`. Its listener is taken back, or each session would leave one. */
  #stopped(): { readonly promise: Promise<undefined>; end(): void } {
    const { signal } = this.#stop;
    let stop = (): void => undefined;
    const promise = new Promise<undefined>((resolve) => {
      stop = () => resolve(undefined);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    });
    return { promise, end: () => signal.removeEventListener('abort', stop) };
  }

  #drop(error: unknown): void {
    if (this.#session === undefined) return;
    this.#session = undefined;
    this.#options.lost(error);
  }

  async #closed(session: Session): Promise<void> {
    await settledWithin(this.#options.clock, this.#closeWithinMs, session.close());
  }

  /** Told at once: trying again would only repeat it. */
  #isFatal(error: unknown): boolean {
    return MessagingError.is(error) || this.#kindOf(error) === 'auth';
  }

  #kindOf(error: unknown): FaultKind {
    return isFault(error) ? error.kind : this.#options.driver.classify(error);
  }

  #described(error: unknown): unknown {
    const { driver, startTimeoutMs } = this.#options;
    if (MessagingError.is(error)) return error;
    if (this.#kindOf(error) === 'auth') return connectAuth({ broker: driver.broker, cause: error });
    return connectUnreachable({ broker: driver.broker, waitedMs: startTimeoutMs, cause: error });
  }
}

function isFault(error: unknown): error is { kind: FaultKind } {
  return typeof error === 'object' && error !== null && 'kind' in error && 'error' in error;
}
