import { type OpenOptions, openFirst } from '@ackord/core/driver';
import amqp from 'amqplib';
import type { AmqpConnection } from './client.ts';
import type { Settings } from './options.ts';

/** Opens a connection to the first node that answers. Rejects with a raw error, or a summary of several. */
export function connect(
  settings: Settings,
  { signal, clock }: OpenOptions,
): Promise<AmqpConnection> {
  const { nodes, connectTimeoutMs: timeoutMs, tls, connectionName, credentials } = settings;
  return openFirst<AmqpConnection>(nodes, {
    broker: 'RabbitMQ',
    signal,
    clock,
    timeoutMs,
    open: ({ url }) =>
      amqp.connect(url, {
        ...tls,
        // amqplib's own timeout counts silence and destroys the socket; core catches a peer that trickles.
        timeout: timeoutMs,
        noDelay: true,
        keepAlive: true,
        clientProperties: { connection_name: connectionName },
        ...(credentials !== undefined && { credentials }),
      }),
    discard: (late) => {
      late.on('error', () => {});
      // A close that fails means that it is gone already.
      late.close().catch(() => {});
    },
    isFinal: (error) => /ACCESS_REFUSED/.test(String(error)),
  });
}
