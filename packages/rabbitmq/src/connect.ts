import type { Clock } from '@ackord/core/driver';
import amqp from 'amqplib';
import type { AmqpConnection } from './client.ts';
import type { Node, Settings } from './options.ts';

/**
 * Opens a connection to the first node that answers. Another node is asked only when one cannot be
 * reached: refused credentials are the same on all. Rejects with the raw error of a single node, or
 * with a summary whose cause is the last one.
 */
export async function connect(
  settings: Settings,
  signal: AbortSignal,
  clock: Clock,
): Promise<AmqpConnection> {
  const failures: { readonly node: Node; readonly error: unknown }[] = [];
  for (const node of settings.nodes) {
    signal.throwIfAborted();
    try {
      return await connectTo(node, settings, signal, clock);
    } catch (error) {
      signal.throwIfAborted();
      failures.push({ node, error });
      if (isRefusal(error)) break;
    }
  }
  const last = failures.at(-1)?.error;
  if (failures.length <= 1) throw last;
  const tried = failures.map(({ node, error }) => `${node.shown} (${textOf(error)})`).join(', ');
  throw new Error(`No RabbitMQ node could be reached: ${tried}`, { cause: last });
}

async function connectTo(
  node: Node,
  settings: Settings,
  signal: AbortSignal,
  clock: Clock,
): Promise<AmqpConnection> {
  const opening = amqp.connect(node.url, {
    ...settings.tls,
    // amqplib's own timeout counts silence and destroys the socket; a peer that trickles is caught below.
    timeout: settings.connectTimeoutMs,
    noDelay: true,
    keepAlive: true,
    clientProperties: { connection_name: settings.connectionName },
    ...(settings.credentials !== undefined && { credentials: settings.credentials }),
  });
  const { promise: given, reject } = Promise.withResolvers<never>();
  const cancel = clock.after(settings.connectTimeoutMs, () => {
    const text = `connect ETIMEDOUT: ${node.shown} did not finish the handshake in ${settings.connectTimeoutMs} ms`;
    reject(new Error(text));
  });
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([opening, given]);
  } catch (error) {
    // Whatever opens after all is closed again; its own failure has been reported above.
    opening.then(
      (late) => late.on('error', () => {}) && late.close().catch(() => {}),
      () => {},
    );
    throw error;
  } finally {
    cancel();
    signal.removeEventListener('abort', abort);
  }
}

const isRefusal = (error: unknown): boolean => /ACCESS_REFUSED/.test(textOf(error));

/** An address list that fails as a whole has an empty message and only a code. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || String(Reflect.get(error, 'code') ?? error.name);
}
