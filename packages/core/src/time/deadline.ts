import type { Clock } from './clock.ts';

/** A bound on one piece of work, by the clock of the bus. */
export interface Deadline {
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
  /** The work is done: the timer is gone, the signal aborts no more. */
  end(): void;
}

export function deadline(clock: Clock, ms: number, what: string): Deadline {
  const controller = new AbortController();
  const end = clock.after(ms, () =>
    controller.abort(new Error(`${what} took longer than ${ms} ms`)),
  );
  return { signal: controller.signal, end };
}

/** Runs `work` under a deadline of its own. */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, end } = deadline(clock, ms, what);
  try {
    return await work(signal);
  } finally {
    end();
  }
}
