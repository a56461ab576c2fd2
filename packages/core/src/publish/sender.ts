import type { Capabilities } from '../driver/capabilities.ts';
import type { BaseSession, Outcome, Outgoing, RejectKind } from '../driver/driver.ts';
import { withDedupId } from '../settle/dedup-id.ts';
import type { Clock } from '../time/clock.ts';

/** What became of one message. `sent` false: nothing of it reached the driver. */
export type SendOutcome =
  | { readonly is: 'confirmed'; readonly duplicate: boolean }
  | { readonly is: 'rejected'; readonly kind: RejectKind; readonly error: unknown }
  | {
      readonly is: 'unknown';
      readonly why: 'session' | 'deadline' | 'aborted' | 'closed';
      readonly sent: boolean;
      readonly error: unknown;
    };

export interface SendOptions {
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface SenderOptions {
  readonly clock: Clock;
  /** Messages handed to the driver and not settled yet. */
  readonly maxInFlight: number;
  /** Told about each message whether the broker had a place for it. */
  readonly routing?: { routed(): void; unroutable(): void };
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
  readonly #routing: SenderOptions['routing'];
  #session: BaseSession | undefined;
  #queue: Request[] = [];
  readonly #flights = new Set<Flight>();
  #inFlight = 0;
  #armed = false;
  #cancelSweep: (() => void) | undefined;
  #closed = false;

  constructor(options: SenderOptions) {
    this.#clock = options.clock;
    this.#maxInFlight = options.maxInFlight;
    this.#routing = options.routing;
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
    for (const flight of this.#flights) {
      for (const request of flight.requests) request.settle(unknown('session', error));
      flight.abort.abort(error);
    }
  }

  send(out: Outgoing, options: SendOptions): Promise<SendOutcome> {
    return new Promise((resolve) => {
      if (options.signal?.aborted) return resolve(notSent('aborted', options.signal.reason));
      if (this.#closed) return resolve(notSent('closed', new Error('the bus is closed')));
      const request = new Request(out, this.#clock.now() + options.deadlineMs, resolve);
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
    for (const flight of this.#flights) {
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
    let at = 0;
    while (at < this.#queue.length && this.#inFlight < this.#maxInFlight) {
      const room = this.#maxInFlight - this.#inFlight;
      const chunk = nextChunk(this.#queue, at, room, session.capabilities);
      at += chunk.taken;
      if (chunk.requests.length > 0) this.#dispatch(session, chunk.requests, false);
    }
    if (at > 0) this.#queue = at === this.#queue.length ? [] : this.#queue.slice(at);
  }

  #dispatch(session: BaseSession, requests: readonly Request[], alone: boolean): void {
    const flight = new Flight(requests);
    for (const request of requests) request.handedOver = true;
    this.#flights.add(flight);
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
      if (outcome.is === 'confirmed') this.#routing?.routed();
      else if (outcome.is === 'rejected' && outcome.kind === 'unroutable') {
        this.#routing?.unroutable();
      }
      request.settle(final(outcome));
    }
    flight.left -= 1;
    if (flight.left === 0) {
      this.#flights.delete(flight);
      if (flight.suspects.length > 0) this.#apart(session, flight.suspects);
    }
    if (this.#queue.length > 0) this.#pumpSoon();
  }

  #apart(session: BaseSession, suspects: readonly Request[]): void {
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
    const now = this.#clock.now();
    if (this.#queue.some((request) => request.settled || request.deadlineAtMs <= now)) {
      this.#queue = this.#queue.filter((request) => {
        if (request.deadlineAtMs > now) return !request.settled;
        request.settle(notSent('deadline', new Error('no connection before the deadline')));
        return false;
      });
    }
    for (const flight of this.#flights) this.#expire(flight, now);
    if (this.pending > 0) {
      this.#cancelSweep = this.#clock.after(SWEEP_MS, () => this.#sweep());
    }
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

class Request {
  readonly out: Outgoing;
  readonly deadlineAtMs: number;
  settled = false;
  handedOver = false;
  #resolve: (outcome: SendOutcome) => void;
  #unwatch: (() => void) | undefined;

  constructor(out: Outgoing, deadlineAtMs: number, resolve: (outcome: SendOutcome) => void) {
    this.out = out;
    this.deadlineAtMs = deadlineAtMs;
    this.#resolve = resolve;
  }

  watch(signal: AbortSignal): void {
    const onAbort = (): void => {
      const outcome = this.handedOver ? unknown : notSent;
      this.settle(outcome('aborted', signal.reason));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    this.#unwatch = () => signal.removeEventListener('abort', onAbort);
  }

  settle(outcome: SendOutcome): void {
    if (this.settled) return;
    this.settled = true;
    this.#unwatch?.();
    this.#resolve(outcome);
  }
}

class Flight {
  readonly requests: readonly Request[];
  readonly abort = new AbortController();
  readonly suspects: Request[] = [];
  left: number;

  constructor(requests: readonly Request[]) {
    this.requests = requests;
    this.left = requests.length;
  }
}

/** Requests that fit one `send`; settled ones are skipped, too large ones are settled here. */
function nextChunk(
  queue: readonly Request[],
  from: number,
  room: number,
  { batch, bodyBytes, sizeOf }: Capabilities,
): { readonly requests: readonly Request[]; readonly taken: number } {
  const requests: Request[] = [];
  let bytes = 0;
  let at = from;
  for (; at < queue.length && requests.length < Math.min(batch.items, room); at += 1) {
    const request = queue[at];
    if (request === undefined || request.settled) continue;
    const size = sizeOf(request.out);
    if (size > bodyBytes) {
      const error = new Error(`${size} bytes, the limit is ${bodyBytes} bytes`);
      request.settle({ is: 'rejected', kind: 'too-large', error });
      continue;
    }
    const first = requests[0];
    if (first !== undefined) {
      if (bytes + size > batch.bytes) break;
      if (batch.oneAddress && first.out.to !== request.out.to) break;
    }
    bytes += size;
    requests.push(request);
  }
  return { requests, taken: at - from };
}

function final(outcome: Outcome): SendOutcome {
  switch (outcome.is) {
    case 'confirmed':
      return { is: 'confirmed', duplicate: outcome.duplicate === true };
    case 'rejected':
      return outcome;
    case 'together':
      return { is: 'rejected', kind: outcome.kind, error: outcome.error };
    case 'unknown':
      return unknown(outcome.why, outcome.error);
  }
}

const unknown = (
  why: 'session' | 'deadline' | 'aborted' | 'closed',
  error: unknown,
): SendOutcome => ({ is: 'unknown', why, sent: true, error });

const notSent = (why: 'deadline' | 'aborted' | 'closed', error: unknown): SendOutcome => ({
  is: 'unknown',
  why,
  sent: false,
  error,
});
