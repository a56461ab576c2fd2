import {
  type Address,
  delayLabel,
  type Plan,
  type Resource,
  type Source,
  type Target,
  type Topology,
} from '@ackord/core/driver';

/** Settings of a resource of kind `topic`. */
export interface TopicSettings {
  readonly partitions: number;
  /** Retry topics: whose, and how long they hold. */
  readonly retryOf?: string;
  readonly delayMs?: number;
}

/** Settings of a resource of kind `group`. */
export interface GroupSettings {
  readonly topics: readonly string[];
  /** The group also reads every retry topic of this consumer that exists. */
  readonly retriesOf?: string;
}

/**
 * Places of the log profile: topics `orders`, `reserve.retry.5s`, `reserve.redrive`,
 * `reserve.parking`; a source is a consumer group: `reserve`, `reserve.retry`, `reserve.parking`.
 */
export function planLogs(topology: Topology, partitions: number): Plan {
  const consumers = new Map(topology.consumers.map((consumer) => [consumer.name, consumer]));
  const destinations = new Set(topology.destinations.map(({ name }) => name));
  const topic = (name: string, more: Omit<TopicSettings, 'partitions'> = {}): Resource => ({
    kind: 'topic',
    name,
    settings: { partitions, ...more },
  });
  const resources = [
    ...[...destinations].map((name) => topic(name)),
    ...topology.consumers.flatMap(({ name, from, delaysMs }) => [
      ...delaysMs.map((delayMs) => topic(retryTopic(name, delayMs), { retryOf: name, delayMs })),
      topic(`${name}.redrive`),
      topic(`${name}.parking`),
      group(name, { topics: from }),
      group(`${name}.retry`, { topics: [`${name}.redrive`], retriesOf: name }),
      group(`${name}.parking`, { topics: [`${name}.parking`] }),
    ]),
  ];
  checkNames(resources);

  const address = (target: Target): readonly Address[] => {
    if (target.at === 'destination') return destinations.has(target.name) ? [target.name] : [];
    const consumer = consumers.get(target.consumer);
    if (!consumer) return [];
    if (target.at !== 'retry') return [`${consumer.name}.${target.at}`];
    const { delayMs } = target;
    const known = delayMs !== undefined && consumer.delaysMs.includes(delayMs);
    return known ? [retryTopic(consumer.name, delayMs)] : [];
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

function group(name: string, settings: GroupSettings): Resource {
  return { kind: 'group', name, settings: { ...settings } };
}

function retryTopic(consumer: string, delayMs: number): Address {
  return `${consumer}.retry.${delayLabel(delayMs)}`;
}

function checkNames(resources: readonly Resource[]): void {
  const seen = new Set<string>();
  for (const { kind, name } of resources) {
    const key = `${kind} ${name}`;
    if (seen.has(key)) throw new Error(`Two resources of the plan are called ${kind} "${name}".`);
    seen.add(key);
  }
}
