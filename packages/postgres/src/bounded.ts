import { storeUnavailable } from '@ackord/core/store';
import { STORE } from './name.ts';

export interface Limit {
  /** For the error's text. */
  readonly what: string;
  readonly within: Deadlines;
  readonly signal?: AbortSignal | undefined;
}

interface Call {
  readonly endsAtMs: number;
  readonly late: () => void;
  before: Call | undefined;
  after: Call | undefined;
  ended: boolean;
}

/**
 * Calls that may all take equally long: one timer for them, set for the oldest. They are linked to
 * each other, because the tables of a Set keep what they held until a full garbage collection.
 */
export class Deadlines {
  readonly ms: number;
  /** In the order in which they end. */
  #first: Call | undefined;
  #last: Call | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.ms = ms;
  }

  start(late: () => void): Call {
    const endsAtMs = performance.now() + this.ms;
    const before = this.#last;
    const call: Call = { endsAtMs, late, before, after: undefined, ended: false };
    this.#last = call;
    if (before === undefined) this.#first = call;
    else before.after = call;
    if (this.#timer === undefined) this.#arm(this.ms);
    else if (before === undefined) this.#timer.ref();
    return call;
  }

  end(call: Call): void {
    if (call.ended) return;
    call.ended = true;
    const { before, after } = call;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    call.before = undefined;
    call.after = undefined;
    // The timer stays for the next call, but alone it keeps no process alive.
    if (this.#first === undefined) this.#timer?.unref();
  }

  #arm(ms: number): void {
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#expire();
      },
      Math.max(1, ms),
    );
  }

  #expire(): void {
    const nowMs = performance.now();
    for (let call = this.#first; call !== undefined; call = this.#first) {
      if (call.endsAtMs > nowMs) {
        // A call that was late may have begun another, and that one has armed the timer.
        if (this.#timer === undefined) this.#arm(call.endsAtMs - nowMs);
        return;
      }
      this.end(call);
      call.late();
    }
  }
}

/**
 * Settles as `start` says, or rejects when the time is over or the signal aborts, whichever is
 * first. `giveUp` then runs; what comes later is ignored.
 */
export function bounded<T>(
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
  limit: Limit,
  giveUp: (error: Error) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const { signal, within } = limit;
    const done = (): void => {
      within.end(call);
      signal?.removeEventListener('abort', onAbort);
    };
    const stop = (error: Error): void => {
      done();
      giveUp(error);
      reject(error);
    };
    const onAbort = (): void => stop(asError(signal?.reason));
    const call = within.start(() => stop(noAnswer(limit)));
    if (signal?.aborted) {
      onAbort();
      return;
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    start(
      (value) => {
        done();
        resolve(value);
      },
      (error) => {
        done();
        reject(error);
      },
    );
  });
}

export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

function noAnswer({ what, within }: Limit): Error {
  const cause = new Error(`${what}: no answer within ${within.ms} ms.`);
  return storeUnavailable({ store: STORE, cause });
}
