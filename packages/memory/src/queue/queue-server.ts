import type { Clock, Depth, Drift, Outgoing, Resource } from '@ackord/core/driver';
import { DedupWindow } from '../broker/dedup-window.ts';
import type { MemoryFaults } from '../broker/faults.ts';
import type { SendCounter } from '../broker/send-counter.ts';
import type { SendTarget } from '../broker/send-path.ts';
import { type StoredMessage, storedFrom } from '../broker/stored-message.ts';
import { MessageQueue, type QueueOptions } from './message-queue.ts';
import { ANY_TYPE } from './queue-topology.ts';

/** A bucket looks again after this time when its target is away; nothing is dropped. */
const TARGET_AWAY_MS = 1_000;

interface Bucket {
  readonly delayMs: number;
  readonly to: string;
  readonly waiting: Set<StoredMessage>;
}
interface Binding {
  readonly from: string;
  readonly type: string;
  readonly to: string;
}

/** Destinations, bindings, queues and buckets: what lives on when sessions die. */
export class QueueServer implements SendTarget {
  readonly dedup: DedupWindow;
  readonly faults: MemoryFaults;
  readonly counter: SendCounter;
  readonly #clock: Clock;
  readonly #destinations = new Map<string, Map<string, Binding>>();
  readonly #queues = new Map<string, MessageQueue>();
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, faults: MemoryFaults, counter: SendCounter) {
    this.#clock = clock;
    this.counter = counter;
    this.faults = faults;
    this.dedup = new DedupWindow(clock);
  }

  has(address: string): boolean {
    return (
      this.#destinations.has(address) || this.#queues.has(address) || this.#buckets.has(address)
    );
  }

  queue(name: string): MessageQueue | undefined {
    return this.faults.isMissing(name) ? undefined : this.#queues.get(name);
  }

  cancel(address: string): void {
    this.#queues.get(address)?.cancelAll();
  }

  create(resources: readonly Resource[], options: QueueOptions): void {
    for (const { kind, name, settings } of resources) {
      if (kind === 'destination') this.#destination(name);
      else if (kind === 'queue' && !this.#queues.has(name)) {
        this.#queues.set(name, new MessageQueue(name, this.#clock, this.faults, options));
      } else if (kind === 'bucket' && !this.#buckets.has(name)) {
        const { delayMs, to } = settings as { delayMs: number; to: string };
        this.#buckets.set(name, { delayMs, to, waiting: new Set() });
      } else if (kind === 'binding') {
        const binding = settings as unknown as Binding;
        this.#destination(binding.from).set(name, binding);
      }
    }
  }

  missing(resources: readonly Resource[]): readonly Drift[] {
    return resources.flatMap(({ kind, name, settings }) => {
      const exists =
        kind === 'binding'
          ? this.#destinations.get(settings['from'] as string)?.has(name)
          : this.has(name) && !this.faults.isMissing(name);
      return exists ? [] : [{ resource: name, expected: 'exists', actual: 'missing' }];
    });
  }

  accepts(message: Outgoing): boolean {
    if (this.faults.isMissing(message.to)) return false;
    if (!this.#destinations.has(message.to)) {
      return this.#queues.has(message.to) || this.#buckets.has(message.to);
    }
    return this.#routes(message.to, message.mirror.type).size > 0;
  }

  store(message: Outgoing): void {
    this.put(message.to, storedFrom(message, this.#clock.now()));
  }

  put(address: string, message: StoredMessage): void {
    const bucket = this.#buckets.get(address);
    if (this.#destinations.has(address)) {
      for (const name of this.#routes(address, message.type)) this.#queues.get(name)?.push(message);
    } else if (bucket) {
      bucket.waiting.add(message);
      this.#expireAfter(bucket, message, bucket.delayMs);
    } else {
      this.#queues.get(address)?.push(message);
    }
  }

  messages(address: string): readonly StoredMessage[] {
    const bucket = this.#buckets.get(address);
    return bucket ? [...bucket.waiting] : (this.#queues.get(address)?.messages() ?? []);
  }

  depth(queue: MessageQueue): Depth {
    const buckets = [...this.#buckets.values()].filter(({ to }) => to === queue.name);
    const oldestAtMs = queue.oldestAtMs;
    return {
      ready: queue.ready,
      held: queue.held + buckets.reduce((sum, bucket) => sum + bucket.waiting.size, 0),
      asOfMs: this.#clock.now(),
      ...(oldestAtMs === undefined ? {} : { oldestAtMs }),
    };
  }

  #destination(name: string): Map<string, Binding> {
    const bindings = this.#destinations.get(name) ?? new Map<string, Binding>();
    this.#destinations.set(name, bindings);
    return bindings;
  }

  #routes(destination: string, type: string | undefined): ReadonlySet<string> {
    const queues = new Set<string>();
    for (const binding of this.#destinations.get(destination)?.values() ?? []) {
      if (binding.type !== ANY_TYPE && binding.type !== type) continue;
      if (!this.faults.isMissing(binding.to)) queues.add(binding.to);
    }
    return queues;
  }

  #expireAfter(bucket: Bucket, message: StoredMessage, ms: number): void {
    this.#clock.after(ms, () => {
      if (this.faults.isMissing(bucket.to)) this.#expireAfter(bucket, message, TARGET_AWAY_MS);
      else {
        bucket.waiting.delete(message);
        this.put(bucket.to, { ...message, storedAtMs: this.#clock.now() });
      }
    });
  }
}
