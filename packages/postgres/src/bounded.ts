import { storeUnavailable } from '@ackord/core/store';
import { STORE } from './name.ts';

export interface Limit {
  /** For the error's text. */
  readonly what: string;
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Settles with `work`, or rejects when the time is over or the signal aborts, whichever is first.
 * `giveUp` then runs; what `work` does later is ignored.
 */
export function bounded<T>(
  work: Promise<T>,
  limit: Limit,
  giveUp: (error: Error) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const { signal } = limit;
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const stop = (error: Error): void => {
      done();
      giveUp(error);
      reject(error);
    };
    const onAbort = (): void => stop(asError(signal?.reason));
    const timer = setTimeout(() => stop(noAnswer(limit)), limit.ms);
    work.then(
      (value) => {
        done();
        resolve(value);
      },
      (error: unknown) => {
        done();
        reject(error);
      },
    );
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}

export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

function noAnswer({ what, ms }: Limit): Error {
  const cause = new Error(`${what}: no answer within ${ms} ms.`);
  return storeUnavailable({ store: STORE, cause });
}
