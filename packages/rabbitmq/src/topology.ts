import {
  type Address,
  type Naming,
  type Plan,
  type Resource,
  refuseDelay,
  refuseLongType,
  refuseSharedNames,
  type Target,
  type Topology,
  type TopologyConsumer,
} from '@ackord/core/driver';
import { BUCKET, ID_BYTES, PROFILE } from './capabilities.ts';

/** Where a message goes: an exchange with the type as routing key, or straight into a queue. */
export interface Place {
  /** Empty for a queue: the default exchange. */
  readonly exchange: string;
  readonly queue?: string;
}

/** `x:` names an exchange, `q:` a queue; the rest is the physical name. */
const exchangeAddress = (exchange: string): Address => `x:${exchange}`;
const queueAddress = (queue: string): Address => `q:${queue}`;

/** Undefined for a text that is no address of this driver. */
export function readAddress(address: Address): Place | undefined {
  const name = address.slice(2);
  if (name === '') return undefined;
  if (address.startsWith('x:')) return { exchange: name };
  return address.startsWith('q:') ? { exchange: '', queue: name } : undefined;
}

/**
 * Settings of queues that consumers read. Without `x-delivery-limit` a message is dropped after 20
 * returns by lost channels (4.x default), the innocent neighbours of one that kills the process
 * included. The argument cannot be changed later, but a policy with `delivery-limit` overrides -1,
 * and only -1 (measured on 4.3.6: policy 3 over -1 dropped after the third return).
 */
const READ_QUEUE: Readonly<Record<string, unknown>> = Object.freeze({
  'x-queue-type': 'quorum',
  'x-delivery-limit': -1,
});

/**
 * Pure. The live queue is bound for the handled types; each delay is a bucket that expires through
 * the default exchange into the consumer's own retry queue, so that no other consumer of the topic
 * sees a retry and no retry waits behind the backlog.
 */
export function createPlan(topology: Topology, naming: Naming): Plan {
  const { destinations, consumers } = topology;
  const exchanges = new Set(destinations.map(({ name }) => naming.destination(name)));
  const resources: Resource[] = [
    ...Array.from(exchanges, (name) => ({ kind: 'exchange', name, settings: { type: 'topic' } })),
    ...consumers.flatMap((consumer) => queuesOf(consumer, naming)),
    ...consumers.flatMap((consumer) => bindingsOf(consumer, naming)),
  ];
  refuseSharedNames(resources, 'queue');
  const buckets = new Set(
    consumers.flatMap(({ name, delaysMs }) => delaysMs.map((ms) => naming.retry(name, ms))),
  );
  return Object.freeze<Plan>({
    resources: Object.freeze(resources),
    address: (target) => addressOf(target, naming, buckets),
    sources: (consumer) => [
      { address: queueAddress(naming.consumer(consumer)), consumer, feed: 'live' },
      { address: queueAddress(naming.retry(consumer)), consumer, feed: 'retry' },
      { address: queueAddress(naming.parking(consumer)), consumer, feed: 'parking' },
    ],
  });
}

/** Buckets of the plan that expire into this queue. */
export function bucketsInto(resources: readonly Resource[], queue: string): readonly string[] {
  return resources
    .filter(({ settings }) => settings['x-dead-letter-routing-key'] === queue)
    .map(({ name }) => name);
}

function addressOf(
  target: Target,
  naming: Naming,
  buckets: ReadonlySet<string>,
): readonly Address[] {
  switch (target.at) {
    case 'destination':
      return [exchangeAddress(naming.destination(target.name))];
    case 'redrive':
      return [queueAddress(naming.retry(target.consumer))];
    case 'parking':
      return [queueAddress(naming.parking(target.consumer))];
    case 'retry': {
      const { consumer, delayMs } = target;
      const bucket = delayMs === undefined ? '' : naming.retry(consumer, delayMs);
      // A delay without a bucket has no place.
      return buckets.has(bucket) ? [queueAddress(bucket)] : [];
    }
  }
}

function queuesOf({ name, delaysMs }: TopologyConsumer, naming: Naming): Resource[] {
  const retry = naming.retry(name);
  const read = [naming.consumer(name), retry, naming.parking(name)];
  return [
    ...read.map((queue) => ({ kind: 'queue', name: queue, settings: READ_QUEUE })),
    ...Array.from(new Set(delaysMs), (delayMs) => {
      refuseDelay(name, delayMs, { profile: PROFILE, ...BUCKET });
      return { kind: 'queue', name: naming.retry(name, delayMs), settings: bucket(delayMs, retry) };
    }),
  ];
}

/** At-least-once dead-lettering needs both: without reject-publish it silently degrades and loses messages. */
const bucket = (delayMs: number, into: string): Readonly<Record<string, unknown>> => ({
  'x-queue-type': 'quorum',
  'x-message-ttl': delayMs,
  'x-dead-letter-exchange': '',
  'x-dead-letter-routing-key': into,
  'x-dead-letter-strategy': 'at-least-once',
  'x-overflow': 'reject-publish',
});

function bindingsOf(consumer: TopologyConsumer, naming: Naming): Resource[] {
  const queue = naming.consumer(consumer.name);
  const keys = consumer.types.length === 0 ? ['#'] : new Set(consumer.types);
  const bindings: Resource[] = [];
  for (const from of consumer.from) {
    const exchange = naming.destination(from);
    for (const key of keys) {
      refuseLongType(consumer.name, key, ID_BYTES);
      const name = `${exchange} -[${key}]-> ${queue}`;
      bindings.push({ kind: 'binding', name, settings: { exchange, queue, key } });
    }
  }
  return bindings;
}
