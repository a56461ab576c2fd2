import type { Delay } from '@ackord/core/driver';
import { capabilitiesOf, type MemoryLimits } from '../broker/limits.ts';
import { MemoryBroker } from '../broker/memory-broker.ts';
import { createDriver, type MemoryDriver } from '../broker/memory-driver.ts';
import { MemoryQueueSession } from './queue-session.ts';
import { planQueues } from './queue-topology.ts';

export interface MemoryQueueOptions {
  /** The broker to connect to; several drivers on one are several processes. Default: a new one. */
  readonly broker?: MemoryBroker;
  /**
   * `bucket` (default): a retry is a copy that waits at an address of its own, as on RabbitMQ.
   * `return`: the delivery goes back with a delay, as on JetStream and SQS.
   */
  readonly delays?: 'bucket' | 'return';
  /** `group`: one unsettled message per key at a time, in order, as on SQS FIFO. Default `none`. */
  readonly lanes?: 'none' | 'group';
  /** How long a delivery is held, in ms. Default: until it is settled or its session ends. */
  readonly leaseMs?: number;
  readonly limits?: MemoryLimits;
}

/** Longest delay either way, as an AMQP TTL: 2^32 - 1 ms. */
const LONGEST_DELAY_MS = 4_294_967_295;

/** Queues in this process. Profile `memory/queue`. */
export function memoryQueue(options: MemoryQueueOptions = {}): MemoryDriver {
  const { broker = new MemoryBroker(), delays = 'bucket', lanes = 'none', leaseMs } = options;
  const delay: Delay =
    delays === 'bucket'
      ? { by: 'bucket', minMs: 1, maxMs: LONGEST_DELAY_MS }
      : {
          by: 'return',
          stepMs: 1,
          maxMs: LONGEST_DELAY_MS,
          holdsSlot: false,
          blocksLane: lanes === 'group',
        };
  const capabilities = capabilitiesOf(
    { delays: [delay], nativeCount: 'every-delivery', lanes },
    options.limits,
  );
  return createDriver({
    broker,
    profile: 'memory/queue',
    plan: (topology) => planQueues(topology, delays),
    session: ({ clock }) =>
      new MemoryQueueSession({ broker, clock, capabilities, leaseMs, lanes: lanes === 'group' }),
  });
}
