import type {
  Capabilities,
  Clock,
  Depth,
  Drift,
  Fault,
  Finding,
  LogReceiver,
  LogSession,
  LogSink,
  Outcome,
  Outgoing,
  Plan,
  Resource,
  Source,
} from '@ackord/core/driver';
import type { MemoryBroker } from '../broker/memory-broker.ts';
import { MemoryBrokerError } from '../broker/memory-broker-error.ts';
import { SessionLife } from '../broker/session-life.ts';
import { MemoryLogReceiver } from './log-receiver.ts';
import type { GroupSettings } from './log-topology.ts';

export interface LogSessionOptions {
  readonly broker: MemoryBroker;
  readonly plan: Plan;
  readonly clock: Clock;
  readonly capabilities: Capabilities;
}

export class MemoryLogSession implements LogSession {
  readonly kind = 'log';
  readonly capabilities: Capabilities;
  /** @internal */
  readonly life: SessionLife;
  readonly #options: LogSessionOptions;
  readonly #receivers = new Set<MemoryLogReceiver>();

  constructor(options: LogSessionOptions) {
    const { broker, capabilities } = options;
    this.#options = options;
    this.capabilities = capabilities;
    this.life = new SessionLife({
      broker,
      capabilities,
      target: broker.logs,
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
    const { logs } = this.#options.broker;
    if (mode === 'create') logs.create(resources);
    return logs.drift(resources);
  }

  send(
    batch: readonly Outgoing[],
    options: { readonly signal: AbortSignal; readonly alone?: boolean },
    done: (index: number, outcome: Outcome) => void,
  ): void {
    this.life.send(batch, options, done);
  }

  async receive(
    from: Source,
    options: { readonly start: 'earliest' | 'latest'; readonly bytes: number },
    attach: (receiver: LogReceiver) => LogSink,
  ): Promise<void> {
    this.life.check();
    const { logs: server } = this.#options.broker;
    const reads = this.#reads(from);
    for (const topic of reads.topics) {
      if (!server.topic(topic)) throw new MemoryBrokerError('missing', `No topic "${topic}"`);
    }
    const receiver = new MemoryLogReceiver({
      ...options,
      server,
      reads,
      group: server.group(from.address),
      clock: this.#options.clock,
      onEnd: (ended) => this.#receivers.delete(ended),
    });
    this.#receivers.add(receiver);
    receiver.join(attach);
  }

  /** `ready` counts positions, gaps included. */
  async inspect(source: Source): Promise<Depth> {
    this.life.check();
    const { logs } = this.#options.broker;
    const topics = logs.topicsOf(this.#reads(source));
    const ready = logs.group(source.address).lag(topics);
    return { ready, held: 0, asOfMs: this.#options.clock.now() };
  }

  async doctor(): Promise<readonly Finding[]> {
    return [{ code: 'memory.not-durable', message: 'Records live in this process only.' }];
  }

  async close(): Promise<void> {
    this.life.close();
  }

  #reads({ address }: Source): GroupSettings {
    const group = this.#options.plan.resources.find(
      ({ kind, name }) => kind === 'group' && name === address,
    );
    if (!group) throw new MemoryBrokerError('missing', `The plan has no group "${address}"`);
    return group.settings as unknown as GroupSettings;
  }
}
