import type { BaseSession, Outcome, Outgoing } from '../driver/driver.ts';
import { Chain } from '../settle/chain.ts';
import { withDedupId } from '../settle/dedup-id.ts';
import type { Clock } from '../time/clock.ts';
import { final, notSent, type SendOutcome, unknown } from './send-outcome.ts';
import { Flight, nextChunk, SendRequest } from './send-request.ts';

export type { SendOutcome } from './send-outcome.ts';

export interface SendOptions {
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Not handed to a session later than this, in milliseconds from now. Default: the deadline. */
  readonly handOverMs?: number;
}

export interface SenderOptions {
  readonly clock: Clock;
  /** Messages handed to the driver and not settled yet. */
  readonly maxInFlight: number;
  /** Called for each message that the broker had no place for. */
  readonly unroutable?: () => void;
}

/** How often deadlines are looked at; a promise may settle this much after its deadline. */
const SWEEP_MS = 50;
const IDLE_CHECK_MS = 5;

/**
 * Sends what is queued over the current session: bounded in flight, chunked by count and bytes.
 * What was refused together is sent apart in halves until the guilty one is alone. A message that
 * was handed to a session which then died is `unknown`: only its owner may send it again. What was
 * not handed over yet waits for the next session until its deadline.
 */
export class Sender {
  readonly #clock: Clock;
  readonly #maxInFlight: number;
  readonly #unroutable: SenderOptions['unroutable'];
  #session: BaseSession | undefined;
  #queue: SendRequest[] = [];
  readonly #flights = new Chain<Flight>();
  #inFlight = 0;
  #armed = false;
  #seenMs = Number.NEGATIVE_INFINITY;
  #cancelSweep: (() => void) | undefined;
  #closed = false;

  constructor(options: SenderOptions) {
    this.#clock = options.clock;
    this.#maxInFlight = options.maxInFlight;
    this.#unroutable = options.unroutable;
  }

  get pending(): number {
    return this.#queue.length + this.#inFlight;
  }

  attach(session: BaseSession): void {
    this.#session = session;
    this.#pumpSoon();
  }

  /** The session is gone: what was handed to it is `unknown`. */
  detach(error: unknown): void {
    this.#session = undefined;
    for (const flight of this.#flights.all()) {
      for (const request of flight.requests) request.settle(unknown('session', error));
      flight.abort.abort(error);
    }
  }

  send(out: Outgoing, options: SendOptions): Promise<SendOutcome> {
    return new Promise((resolve) => {
      if (options.signal?.aborted) return resolve(notSent('aborted', options.signal.reason));
      if (this.#closed) return resolve(notSent('closed', new Error('the bus is closed')));
      const nowMs = this.#now();
      const request = new SendRequest(out, nowMs + options.deadlineMs, resolve);
      if (options.handOverMs !== undefined) request.handOverByMs = nowMs + options.handOverMs;
      if (options.signal !== undefined) request.watch(options.signal);
      this.#queue.push(request);
      this.#pumpSoon();
      this.#cancelSweep ??= this.#clock.after(SWEEP_MS, () => this.#sweep());
    });
  }

  /** Resolves when nothing is pending; every promise settles by its deadline, so this does too. */
  async idle(): Promise<void> {
    while (this.pending > 0) {
      await new Promise<void>((resolve) => this.#clock.after(IDLE_CHECK_MS, resolve));
    }
  }

  /** Settles everything that is still pending. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
    const error = new Error('the bus was closed before an answer came');
    for (const request of this.#queue.splice(0)) request.settle(notSent('closed', error));
    for (const flight of this.#flights.all()) {
      for (const request of flight.requests) request.settle(unknown('closed', error));
      flight.abort.abort(error);
    }
  }

  #pumpSoon(): void {
    if (this.#armed) return;
    this.#armed = true;
    // One turn later, so that what is published in one tick shares a batch.
    setImmediate(() => {
      this.#armed = false;
      this.#pump();
    });
  }

  #pump(): void {
    const session = this.#session;
    if (session === undefined) return;
    const nowMs = this.#clock.now();
    let at = 0;
    while (at < this.#queue.length && this.#inFlight < this.#maxInFlight) {
      const room = this.#maxInFlight - this.#inFlight;
      const chunk = nextChunk(this.#queue, { from: at, room, nowMs }, session.capabilities);
      at += chunk.taken;
      if (chunk.requests.length > 0) this.#dispatch(session, chunk.requests, false);
    }
    if (at > 0) this.#queue = at === this.#queue.length ? [] : this.#queue.slice(at);
  }

  #dispatch(session: BaseSession, requests: readonly SendRequest[], alone: boolean): void {
    const flight = new Flight(requests);
    for (const request of requests) request.handedOver = true;
    flight.link = this.#flights.add(flight);
    this.#inFlight += requests.length;
    const { idChars } = session.capabilities;
    const outgoing = requests.map(({ out }) => withDedupId(out, idChars));
    session.send(outgoing, { signal: flight.abort.signal, alone }, (index, outcome) => {
      this.#done(session, flight, index, outcome, alone);
    });
  }

  #done(
    session: BaseSession,
    flight: Flight,
    index: number,
    outcome: Outcome,
    alone: boolean,
  ): void {
    const request = flight.requests[index];
    if (request === undefined) return;
    this.#inFlight -= 1;
    if (outcome.is === 'together' && !(alone && flight.requests.length === 1)) {
      flight.suspects.push(request);
    } else {
      if (outcome.is === 'rejected' && outcome.kind === 'unroutable') this.#unroutable?.();
      request.settle(final(outcome));
    }
    flight.left -= 1;
    if (flight.left === 0) {
      if (flight.link !== undefined) this.#flights.remove(flight.link);
      if (flight.suspects.length > 0) this.#apart(session, flight.suspects);
    }
    if (this.#queue.length > 0) this.#pumpSoon();
  }

  #apart(session: BaseSession, suspects: readonly SendRequest[]): void {
    const open = suspects.filter((request) => !request.settled);
    if (session !== this.#session) {
      for (const request of open) {
        request.settle(unknown('session', new Error('the session was lost')));
      }
      return;
    }
    const half = Math.ceil(open.length / 2);
    for (const part of [open.slice(0, half), open.slice(half)]) {
      if (part.length > 0) this.#dispatch(session, part, true);
    }
  }

  #sweep(): void {
    this.#cancelSweep = undefined;
    const now = this.#now();
    if (this.#queue.some((request) => request.settled || request.deadlineAtMs <= now)) {
      this.#queue = this.#queue.filter((request) => {
        if (request.deadlineAtMs > now) return !request.settled;
        request.settle(notSent('deadline', new Error('no connection before the deadline')));
        return false;
      });
    }
    for (const flight of this.#flights.all()) this.#expire(flight, now);
    if (this.pending > 0) {
      this.#cancelSweep = this.#clock.after(SWEEP_MS, () => this.#sweep());
    }
  }

  /** Deadlines are instants: when the clock was put back, they are too, or they came that much later. */
  #now(): number {
    const now = this.#clock.now();
    const backMs = this.#seenMs - now;
    this.#seenMs = now;
    if (backMs > 0) {
      for (const request of this.#queue) request.earlier(backMs);
      for (const { requests } of this.#flights.all())
        for (const each of requests) each.earlier(backMs);
    }
    return now;
  }

  #expire(flight: Flight, now: number): void {
    let open = 0;
    for (const request of flight.requests) {
      if (request.deadlineAtMs <= now) {
        request.settle(unknown('deadline', new Error('no answer before the deadline')));
      } else open += 1;
    }
    if (open === 0) flight.abort.abort(new Error('deadline'));
  }
}
