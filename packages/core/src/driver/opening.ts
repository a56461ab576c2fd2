import type { Clock } from '../time/clock.ts';
import { errorCode } from './fault-table.ts';
import type { ServerUrl } from './server-urls.ts';

/** How one server is opened. */
export interface Opening<T> {
  /** Product, for the error text. */
  readonly broker: string;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Longest wait for one server. */
  readonly timeoutMs: number;
  open(server: ServerUrl): Promise<T>;
  /** Gets what opens after its time; must not throw. */
  discard(late: T): void;
  /** Another server would say the same: refused credentials. */
  isFinal(error: unknown): boolean;
}

/**
 * Opens the first server that answers. Rejects with the raw error of a single one, with a summary
 * whose cause is the last one, or with the reason of the signal.
 */
export async function openFirst<T>(servers: readonly ServerUrl[], opening: Opening<T>): Promise<T> {
  const failures: { readonly shown: string; readonly error: unknown }[] = [];
  for (const server of servers) {
    opening.signal.throwIfAborted();
    try {
      return await openOne(server, opening);
    } catch (error) {
      opening.signal.throwIfAborted();
      failures.push({ shown: server.shown, error });
      if (opening.isFinal(error)) break;
    }
  }
  const last = failures.at(-1)?.error;
  if (failures.length === 1) throw last;
  const tried = failures.map(({ shown, error }) => `${shown} (${textOf(error)})`).join(', ');
  throw new Error(`No ${opening.broker} node could be reached: ${tried}`, { cause: last });
}

async function openOne<T>(server: ServerUrl, opening: Opening<T>): Promise<T> {
  const { signal, clock, timeoutMs } = opening;
  const opened = opening.open(server);
  const { promise: given, reject } = Promise.withResolvers<never>();
  const cancel = clock.after(timeoutMs, () => {
    const text = `connect ETIMEDOUT: ${server.shown} did not finish the handshake in ${timeoutMs} ms`;
    reject(Object.assign(new Error(text), { code: 'ETIMEDOUT' }));
  });
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([opened, given]);
  } catch (error) {
    // Its own failure has been reported, or nobody waits for it any more.
    opened.then(
      (late) => opening.discard(late),
      () => {},
    );
    throw error;
  } finally {
    cancel();
    signal.removeEventListener('abort', abort);
  }
}

/** An address list that fails as a whole has an empty message and only a code. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || (errorCode(error) ?? error.name);
}
