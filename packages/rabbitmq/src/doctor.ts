import type { Finding } from '@ackord/core/driver';
import type { AmqpConnection } from './client.ts';
import type { Settings } from './options.ts';

/** Oldest server whose delivery limit and at-least-once dead-lettering behave as the mapping needs. */
const OLDEST_MAJOR = 4;

/**
 * Preflight findings that AMQP alone can tell. Queue and policy settings are compared by `apply`.
 *
 * - `rabbitmq.server-version`: older than 4.0, or the server does not say.
 * - `rabbitmq.heartbeat-off`: a black-holed connection is never noticed.
 */
export function findings(connection: AmqpConnection, settings: Settings): readonly Finding[] {
  const found: Finding[] = [];
  const { version = 'unknown' } = connection.connection.serverProperties;
  if (!(Number.parseInt(version, 10) >= OLDEST_MAJOR)) {
    found.push({
      code: 'rabbitmq.server-version',
      message: `RabbitMQ ${version} is older than ${OLDEST_MAJOR}.0, the oldest version this driver is made for.`,
      fix: `Upgrade the server to ${OLDEST_MAJOR}.0 or later.`,
    });
  }
  if (settings.heartbeatSeconds === 0) {
    found.push({
      code: 'rabbitmq.heartbeat-off',
      message: 'Heartbeats are off: a connection that goes silent is never given up.',
      fix: 'Remove heartbeatSeconds: 0; the default is 10.',
    });
  }
  return found;
}
