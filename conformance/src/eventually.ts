const POLL_MS = 15;

export interface EventuallyOptions {
  /** Default 10 s. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Asks until the answer is truthy and resolves to it. An `ask` that throws counts as "not yet".
 * Throws past the deadline, with the last answer or error in its text.
 */
export async function eventually<T>(
  what: string,
  ask: () => T | Promise<T>,
  options: EventuallyOptions = {},
): Promise<T> {
  const { deadlineMs = 10_000, signal } = options;
  const endAt = Date.now() + deadlineMs;
  for (;;) {
    signal?.throwIfAborted();
    let last: unknown;
    try {
      const answer = await ask();
      if (answer) return answer;
      last = answer;
    } catch (error) {
      last = error;
    }
    if (Date.now() >= endAt) {
      throw new Error(`Not within ${deadlineMs} ms: ${what}. Last answer: ${shown(last)}`, {
        cause: last,
      });
    }
    await new Promise((again) => setTimeout(again, POLL_MS));
  }
}

function shown(value: unknown): string {
  if (value instanceof Error) return value.message;
  return JSON.stringify(value) ?? String(value);
}
