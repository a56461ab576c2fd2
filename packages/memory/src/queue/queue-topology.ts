import {
  type Address,
  delayLabel,
  type Plan,
  type Resource,
  type Source,
  type Target,
  type Topology,
} from '@ackord/core/driver';

/** Matches every message type in a binding. */
export const ANY_TYPE = '*';

/**
 * Places of the queue profile: `orders` (destination), and per consumer `reserve`,
 * `reserve.retry`, `reserve.retry.5s` (buckets), `reserve.parking`.
 */
export function planQueues(topology: Topology, delays: 'bucket' | 'return'): Plan {
  const consumers = new Map(topology.consumers.map((consumer) => [consumer.name, consumer]));
  const destinations = new Set(topology.destinations.map(({ name }) => name));
  const resources = [
    ...[...destinations].map((name): Resource => ({ kind: 'destination', name, settings: {} })),
    ...topology.consumers.flatMap((consumer) => resourcesOf(consumer, delays)),
  ];
  checkNames(resources, destinations);

  const address = (target: Target): readonly Address[] => {
    if (target.at === 'destination') return destinations.has(target.name) ? [target.name] : [];
    const consumer = consumers.get(target.consumer);
    if (!consumer) return [];
    if (target.at === 'parking') return [`${consumer.name}.parking`];
    if (target.at !== 'retry') return [`${consumer.name}.retry`];
    const { delayMs } = target;
    if (delayMs === undefined) return [`${consumer.name}.retry`];
    const known = delays === 'bucket' && consumer.delaysMs.includes(delayMs);
    return known ? [bucketOf(consumer.name, delayMs)] : [];
  };
  const sources = (consumer: string): readonly Source[] =>
    consumers.has(consumer)
      ? [
          { address: consumer, consumer, feed: 'live' },
          { address: `${consumer}.retry`, consumer, feed: 'retry' },
          { address: `${consumer}.parking`, consumer, feed: 'parking' },
        ]
      : [];
  return { resources, address, sources };
}

function resourcesOf(
  { name, from, types, delaysMs }: Topology['consumers'][number],
  delays: 'bucket' | 'return',
): readonly Resource[] {
  const queue = (queueName: string): Resource => ({ kind: 'queue', name: queueName, settings: {} });
  const buckets = delays === 'bucket' ? delaysMs : [];
  return [
    ...[name, `${name}.retry`, `${name}.parking`].map(queue),
    ...buckets.map((delayMs) => ({
      kind: 'bucket',
      name: bucketOf(name, delayMs),
      settings: { delayMs, to: `${name}.retry` },
    })),
    ...from.flatMap((destination) =>
      (types.length === 0 ? [ANY_TYPE] : types).map((type) => ({
        kind: 'binding',
        name: `${destination}/${type}/${name}`,
        settings: { from: destination, type, to: name },
      })),
    ),
  ];
}

function bucketOf(consumer: string, delayMs: number): Address {
  return `${consumer}.retry.${delayLabel(delayMs)}`;
}

/** A consumer may be called like a destination: nothing is ever sent to its main queue. */
function checkNames(resources: readonly Resource[], destinations: ReadonlySet<string>): void {
  const seen = new Set<string>();
  for (const { kind, name } of resources) {
    if (kind !== 'queue' && kind !== 'bucket') continue;
    if (seen.has(name)) throw new Error(`Two resources of the plan are called "${name}".`);
    if (destinations.has(name) && /\.(retry|parking)(\.|$)/.test(name)) {
      throw new Error(`The destination "${name}" has the name of a queue of a consumer.`);
    }
    seen.add(name);
  }
}
