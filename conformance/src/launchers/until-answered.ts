import { BrokerUnavailable } from './broker.ts';

const RETRY_MS = 100;

/** Repeats `ask` until it resolves, up to `deadlineMs`; then throws with the last answer. */
export async function untilAnswered(
  what: string,
  deadlineMs: number,
  ask: () => Promise<unknown>,
): Promise<void> {
  const endAt = Date.now() + deadlineMs;
  for (;;) {
    try {
      await ask();
      return;
    } catch (cause) {
      if (Date.now() >= endAt) {
        throw new BrokerUnavailable(
          `${what} did not answer within ${deadlineMs} ms: ${String(cause)}`,
          { cause },
        );
      }
    }
    await new Promise((again) => setTimeout(again, RETRY_MS));
  }
}

/** The address without user and password, fit to be printed. */
export function printable(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
