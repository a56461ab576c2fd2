import type { Clock, Drift, Lane, Outgoing, Resource } from '@ackord/core/driver';
import { DedupWindow } from '../broker/dedup-window.ts';
import type { MemoryFaults } from '../broker/faults.ts';
import type { SendCounter } from '../broker/send-counter.ts';
import type { SendTarget } from '../broker/send-path.ts';
import { type StoredMessage, storedFrom } from '../broker/stored-message.ts';
import { ConsumerGroup } from './consumer-group.ts';
import type { GroupSettings, TopicSettings } from './log-topology.ts';
import { Partition } from './partition.ts';

/** Positions that a control record takes. */
const CONTROL_POSITIONS = 2;

export interface Topic {
  readonly name: string;
  readonly settings: TopicSettings;
  readonly partitions: readonly Partition[];
}

export interface LogServerOptions {
  readonly clock: Clock;
  readonly faults: MemoryFaults;
  readonly counter: SendCounter;
  /** A control record follows every n-th record; 0: never. */
  readonly gapEvery: number;
  readonly rebalanceMs: number;
}

/** Topics and consumer groups: what lives on when sessions die. */
export class LogServer implements SendTarget {
  readonly dedup: DedupWindow;
  readonly faults: MemoryFaults;
  readonly counter: SendCounter;
  readonly #options: LogServerOptions;
  readonly #topics = new Map<string, Topic>();
  readonly #groups = new Map<string, ConsumerGroup>();
  #appended = 0;

  constructor(options: LogServerOptions) {
    this.#options = options;
    this.faults = options.faults;
    this.counter = options.counter;
    this.dedup = new DedupWindow(options.clock);
  }

  has(topic: string): boolean {
    return this.#topics.has(topic);
  }

  topic(name: string): Topic | undefined {
    return this.faults.isMissing(name) ? undefined : this.#topics.get(name);
  }

  partition(lane: Lane): Partition | undefined {
    const topic = this.#topics.get(lane.slice(0, lane.lastIndexOf('#')));
    return topic?.partitions.find((partition) => partition.lane === lane);
  }

  group(name: string): ConsumerGroup {
    const { clock, faults, rebalanceMs } = this.#options;
    const group = this.#groups.get(name) ?? new ConsumerGroup(this, { clock, faults, rebalanceMs });
    this.#groups.set(name, group);
    return group;
  }

  /** Names of the topics that a group reads now; those of its own list may be missing. */
  topicsOf({ topics, retriesOf }: GroupSettings): readonly string[] {
    const retries = [...this.#topics.values()].filter(
      ({ name, settings }) =>
        retriesOf !== undefined && settings.retryOf === retriesOf && !this.faults.isMissing(name),
    );
    return [...topics, ...retries.map(({ name }) => name)];
  }

  create(resources: readonly Resource[]): void {
    for (const { kind, name, settings } of resources) {
      if (kind !== 'topic' || this.#topics.has(name)) continue;
      const of = settings as unknown as TopicSettings;
      const partitions = Array.from({ length: of.partitions }, (_, i) => new Partition(name, i));
      this.#topics.set(name, { name, settings: of, partitions });
    }
  }

  drift(resources: readonly Resource[]): readonly Drift[] {
    return resources.flatMap(({ kind, name, settings }): readonly Drift[] => {
      if (kind !== 'topic') return [];
      const topic = this.topic(name);
      if (!topic) return [{ resource: name, expected: 'exists', actual: 'missing' }];
      const expected = String(settings['partitions']);
      const actual = String(topic.partitions.length);
      return expected === actual ? [] : [{ resource: `${name}#partitions`, expected, actual }];
    });
  }

  accepts(message: Outgoing): boolean {
    return this.topic(message.to) !== undefined;
  }

  store(message: Outgoing): void {
    this.append(message.to, storedFrom(message, this.#options.clock.now()));
  }

  append(topic: string, message: StoredMessage): void {
    const partitions = this.#topics.get(topic)?.partitions ?? [];
    const at = message.key === undefined ? this.#appended : hash(message.key);
    this.#appended++;
    const { gapEvery } = this.#options;
    const gap = gapEvery > 0 && this.#appended % gapEvery === 0 ? CONTROL_POSITIONS : 0;
    partitions[at % partitions.length]?.append(message, gap);
    for (const group of this.#groups.values()) group.appended();
  }

  messages(topic: string): readonly StoredMessage[] {
    const partitions = this.#topics.get(topic)?.partitions ?? [];
    return partitions.flatMap(({ entries }) => entries.map(({ message }) => message));
  }

  cancel(topic: string): void {
    for (const group of this.#groups.values()) group.cancel(topic);
  }
}

function hash(key: string): number {
  let value = 7;
  for (let i = 0; i < key.length; i++) value = (value * 31 + key.charCodeAt(i)) >>> 0;
  return value;
}
