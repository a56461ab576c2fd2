import type { Driver } from '@ackord/core/driver';
import { PROFILE } from './capabilities.ts';
import { classifyError } from './classify-error.ts';
import { connect } from './connect.ts';
import { type RabbitmqOptions, readOptions } from './options.ts';
import { RabbitmqSession } from './session.ts';
import { createPlan } from './topology.ts';

export type { RabbitmqOptions } from './options.ts';

/**
 * RabbitMQ 4 with quorum queues, profile `rabbitmq/ttl-buckets`: a topic exchange per destination, a
 * queue per consumer, and a retry queue with one TTL bucket per delay beside it.
 *
 * Opens nothing until the bus starts; may be given to several buses.
 *
 * @throws MSG_CONFIG_INVALID on an unknown option or a bad value; the text never shows a URL.
 */
export function rabbitmq(options: RabbitmqOptions): Driver {
  const settings = readOptions(options);
  let sessions = 0;
  return Object.freeze<Driver>({
    profile: PROFILE,
    broker: 'rabbitmq',
    plan: (topology) => createPlan(topology, settings.naming),
    classify: classifyError,
    async open(io) {
      const connection = await connect(settings, io);
      sessions += 1;
      return new RabbitmqSession(sessions, connection, settings, io);
    },
  });
}
