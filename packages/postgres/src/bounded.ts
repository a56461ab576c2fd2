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
  late(): void;
}

/** Calls that may all take equally long: one timer for them, set for the oldest. */
export class Deadlines {
  readonly ms: number;
  /** In the order in which they end. */
  readonly #open = new Set<Call>();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.ms = ms;
  }

  start(late: () => void): Call {
    const call = { endsAtMs: performance.now() + this.ms, late };
    this.#open.add(call);
    if (this.#timer === undefined) this.#arm(this.ms);
    else if (this.#open.size === 1) this.#timer.ref();
    return call;
  }

  end(call: Call): void {
    // The timer stays for the next call, but alone it keeps no process alive.
    if (this.#open.delete(call) && this.#open.size === 0) this.#timer?.unref();
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
    for (const call of this.#open) {
      if (call.endsAtMs > nowMs) {
        this.#arm(call.endsAtMs - nowMs);
        return;
      }
      this.#open.delete(call);
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
