import type {
  Address,
  Plan,
  Resource,
  Source,
  Target,
  Topology,
  TopologyConsumer,
} from '@ackord/core/driver';
import { BUCKET_MS, ID_BYTES } from './capabilities.ts';
import type { Naming } from './names.ts';

/** Where a message goes: an exchange with the type as routing key, or straight into a queue. */
export type Place = { readonly exchange: string } | { readonly queue: string };

/** `x:` names an exchange, `q:` a queue; the rest is the physical name. */
export const exchangeAddress = (exchange: string): Address => `x:${exchange}`;
export const queueAddress = (queue: string): Address => `q:${queue}`;

/** Undefined for a text that is no address of this driver. */
export function readAddress(address: Address): Place | undefined {
  const name = address.slice(2);
  if (name === '') return undefined;
  if (address.startsWith('x:')) return { exchange: name };
  return address.startsWith('q:') ? { queue: name } : undefined;
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
  const resources: Resource[] = [];
  const exchanges = new Set(topology.destinations.map(({ name }) => naming.exchange(name)));
  for (const name of exchanges)
    resources.push({ kind: 'exchange', name, settings: { type: 'topic' } });
  for (const consumer of topology.consumers) resources.push(...queuesOf(consumer, naming));
  for (const consumer of topology.consumers) resources.push(...bindingsOf(consumer, naming));
  refuseTwins(resources);
  const delays = new Map(topology.consumers.map(({ name, delaysMs }) => [name, new Set(delaysMs)]));
  return Object.freeze<Plan>({
    resources: Object.freeze(resources),
    address: (target) => addressOf(target, naming, delays),
    sources: (consumer) => sourcesOf(consumer, naming),
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
  delays: ReadonlyMap<string, ReadonlySet<number>>,
): readonly Address[] {
  switch (target.at) {
    case 'destination':
      return [exchangeAddress(naming.exchange(target.name))];
    case 'redrive':
      return [queueAddress(naming.retry(target.consumer))];
    case 'parking':
      return [queueAddress(naming.parking(target.consumer))];
    case 'retry': {
      const { consumer, delayMs } = target;
      // A delay without a bucket has no place.
      if (delayMs === undefined || !delays.get(consumer)?.has(delayMs)) return [];
      return [queueAddress(naming.bucket(consumer, delayMs))];
    }
  }
}

function sourcesOf(consumer: string, naming: Naming): readonly Source[] {
  return [
    { address: queueAddress(naming.queue(consumer)), consumer, feed: 'live' },
    { address: queueAddress(naming.retry(consumer)), consumer, feed: 'retry' },
    { address: queueAddress(naming.parking(consumer)), consumer, feed: 'parking' },
  ];
}

function queuesOf({ name, delaysMs }: TopologyConsumer, naming: Naming): Resource[] {
  const retry = naming.retry(name);
  return [
    { kind: 'queue', name: naming.queue(name), settings: READ_QUEUE },
    { kind: 'queue', name: retry, settings: READ_QUEUE },
    { kind: 'queue', name: naming.parking(name), settings: READ_QUEUE },
    ...[...new Set(delaysMs)].map((delayMs): Resource => {
      refuseDelay(name, delayMs);
      return {
        kind: 'queue',
        name: naming.bucket(name, delayMs),
        settings: bucket(delayMs, retry),
      };
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
  const queue = naming.queue(consumer.name);
  const keys = consumer.types.length === 0 ? ['#'] : new Set(consumer.types);
  const bindings: Resource[] = [];
  for (const from of consumer.from) {
    const exchange = naming.exchange(from);
    for (const key of keys) {
      refuseType(consumer.name, key);
      const name = `${exchange} -[${key}]-> ${queue}`;
      bindings.push({ kind: 'binding', name, settings: { exchange, queue, key } });
    }
  }
  return bindings;
}

function refuseDelay(consumer: string, delayMs: number): void {
  if (Number.isInteger(delayMs) && delayMs >= BUCKET_MS.min && delayMs <= BUCKET_MS.max) return;
  const range = `the whole milliseconds from ${BUCKET_MS.min} to ${BUCKET_MS.max} that a bucket holds`;
  throw new Error(
    `rabbitmq: retry delay of ${delayMs} ms of "${consumer}" is outside ${range}. Change its retry policy.`,
  );
}

function refuseType(consumer: string, type: string): void {
  const bytes = Buffer.byteLength(type);
  if (bytes <= ID_BYTES) return;
  throw new Error(
    `rabbitmq: type "${type}" of "${consumer}" has ${bytes} bytes; a routing key takes ${ID_BYTES}. Shorten it.`,
  );
}

/** Two roles in one queue would read each other's messages: `a.retry` beside `a`, or a careless override. */
function refuseTwins(resources: readonly Resource[]): void {
  const seen = new Set<string>();
  for (const { kind, name } of resources) {
    if (kind !== 'queue') continue;
    if (seen.has(name)) {
      throw new Error(
        `rabbitmq: two consumers need the queue "${name}". ".retry", ".retry.<delay>" and ".parking" ` +
          'after the name of a consumer are taken; rename one or give it an override in `names`.',
      );
    }
    seen.add(name);
  }
}
