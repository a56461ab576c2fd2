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
import { SendPath } from '../broker/send-path.ts';
import type { MessageQueue, QueueOptions } from './message-queue.ts';
import { MemoryQueueReceiver } from './queue-receiver.ts';

export interface QueueSessionOptions extends QueueOptions {
  readonly broker: MemoryBroker;
  readonly clock: Clock;
  readonly capabilities: Capabilities;
}

export class MemoryQueueSession implements QueueSession {
  readonly kind = 'queue';
  readonly id: number;
  readonly capabilities: Capabilities;
  readonly lost: Promise<Fault>;
  readonly #options: QueueSessionOptions;
  readonly #sends: SendPath;
  readonly #receivers = new Set<MemoryQueueReceiver>();
  #over = false;

  constructor(options: QueueSessionOptions) {
    const { promise, resolve } = Promise.withResolvers<Fault>();
    this.lost = promise;
    this.capabilities = options.capabilities;
    this.#options = options;
    this.#sends = new SendPath(options.broker.queues, options.capabilities);
    this.id = options.broker.joined(this, (fault) => {
      this.#end(fault.error ?? new MemoryBrokerError('connection', 'The session was lost'));
      resolve(fault);
    });
  }

  async apply(
    resources: readonly Resource[],
    mode: 'create' | 'verify',
  ): Promise<readonly Drift[]> {
    this.#alive();
    const { queues } = this.#options.broker;
    if (mode === 'create') queues.create(resources, this.#options);
    return queues.missing(resources);
  }

  send(
    batch: readonly Outgoing[],
    options: { readonly signal: AbortSignal; readonly alone?: boolean },
    done: (index: number, outcome: Outcome) => void,
  ): void {
    this.#sends.send(batch, options, done);
  }

  async receive(from: Source, attach: (receiver: QueueReceiver) => QueueSink): Promise<void> {
    this.#alive();
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
    this.#alive();
    return this.#options.broker.queues.depth(this.#queue(source));
  }

  async doctor(): Promise<readonly Finding[]> {
    return [{ code: 'memory.not-durable', message: 'Messages live in this process only.' }];
  }

  async close(): Promise<void> {
    if (this.#over) return;
    this.#options.broker.left(this);
    this.#end(new MemoryBrokerError('connection', 'The session is closed'));
  }

  #end(error: unknown): void {
    this.#over = true;
    for (const receiver of [...this.#receivers]) receiver.end();
    this.#sends.end(error);
  }

  #alive(): void {
    if (this.#over) throw new MemoryBrokerError('connection', 'The session is over');
  }

  #queue(source: Source): MessageQueue {
    const queue = this.#options.broker.queues.queue(source.address);
    if (!queue) throw new MemoryBrokerError('missing', `There is no queue "${source.address}"`);
    return queue;
  }
}
