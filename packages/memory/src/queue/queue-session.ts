import type {
  Capabilities,
  Clock,
  Depth,
  Drift,
  Fault,
  Finding,
  Outcome,
  Outgoing,
  QueueReceiver,
  QueueSession,
  QueueSink,
  Resource,
  Source,
} from '@ackord/core/driver';
import type { MemoryBroker } from '../broker/memory-broker.ts';
import { MemoryBrokerError } from '../broker/memory-broker-error.ts';
import { SessionLife } from '../broker/session-life.ts';
import type { MessageQueue, QueueOptions } from './message-queue.ts';
import { MemoryQueueReceiver } from './queue-receiver.ts';

export interface QueueSessionOptions extends QueueOptions {
  readonly broker: MemoryBroker;
  readonly clock: Clock;
  readonly capabilities: Capabilities;
}

export class MemoryQueueSession implements QueueSession {
  readonly kind = 'queue';
  readonly capabilities: Capabilities;
  /** @internal */
  readonly life: SessionLife;
  readonly #options: QueueSessionOptions;
  readonly #receivers = new Set<MemoryQueueReceiver>();

  constructor(options: QueueSessionOptions) {
    const { broker, capabilities } = options;
    this.#options = options;
    this.capabilities = capabilities;
    this.life = new SessionLife({
      broker,
      capabilities,
      target: broker.queues,
      onEnd: () => {
        for (const receiver of [...this.#receivers]) receiver.end();
      },
    });
  }

  get id(): number {
    return this.life.id;
  }

  get lost(): Promise<Fault> {
    return this.life.lost;
  }

  async apply(
    resources: readonly Resource[],
    mode: 'create' | 'verify',
  ): Promise<readonly Drift[]> {
    this.life.check();
    const { queues } = this.#options.broker;
    if (mode === 'create') queues.create(resources, this.#options);
    return queues.missing(resources);
  }

  send(
    batch: readonly Outgoing[],
    options: { readonly signal: AbortSignal; readonly alone?: boolean },
    done: (index: number, outcome: Outcome) => void,
  ): void {
    this.life.send(batch, options, done);
  }

  async receive(from: Source, attach: (receiver: QueueReceiver) => QueueSink): Promise<void> {
    this.life.check();
    const queue = this.#queue(from);
    const receiver = new MemoryQueueReceiver({
      queue,
      clock: this.#options.clock,
      faults: this.#options.broker.faults,
      leaseMs: this.#options.leaseMs,
      lanes: this.#options.lanes,
      onEnd: (ended) => this.#receivers.delete(ended),
    });
    this.#receivers.add(receiver);
    receiver.start(attach);
  }

  async inspect(source: Source): Promise<Depth> {
    this.life.check();
    return this.#options.broker.queues.depth(this.#queue(source));
  }

  async doctor(): Promise<readonly Finding[]> {
    return [{ code: 'memory.not-durable', message: 'Messages live in this process only.' }];
  }

  async close(): Promise<void> {
    this.life.close();
  }

  #queue(source: Source): MessageQueue {
    const queue = this.#options.broker.queues.queue(source.address);
    if (!queue) throw new MemoryBrokerError('missing', `There is no queue "${source.address}"`);
    return queue;
  }
}
