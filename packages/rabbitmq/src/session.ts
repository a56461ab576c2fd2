import {
  type Capabilities,
  type Depth,
  type Drift,
  type Fault,
  type Finding,
  type OpenOptions,
  type Outcome,
  type Outgoing,
  type QueueReceiver,
  type QueueSession,
  type QueueSink,
  type Resource,
  SendCall,
  type Source,
  settledWithin,
} from '@ackord/core/driver';
import { ttlBuckets } from './capabilities.ts';
import { classifyError } from './classify-error.ts';
import type { AmqpConnection } from './client.ts';
import { connect } from './connect.ts';
import { applyResources, onOwnChannel } from './declare.ts';
import { findings } from './doctor.ts';
import { gatherWrites } from './gather-writes.ts';
import type { Settings } from './options.ts';
import { Publisher } from './publisher.ts';
import { Receiver } from './receiver.ts';
import { bucketsInto, readAddress } from './topology.ts';

/**
 * A connection with a channel for each receiver, and from the first message on one that sends: under
 * a memory or disk alarm the broker reads nothing more from a connection that sent, so that acks on
 * it would wait too and the queues could not be emptied.
 */
export class RabbitmqSession implements QueueSession {
  readonly kind = 'queue';
  readonly id: number;
  readonly capabilities: Capabilities;
  readonly lost: Promise<Fault>;
  readonly #connection: AmqpConnection;
  /** Those that are open. */
  readonly #connections = new Set<AmqpConnection>();
  readonly #fail: (fault: Fault) => void;
  readonly #settings: Settings;
  readonly #io: OpenOptions;
  readonly #receivers = new Set<Receiver>();
  #sending: Promise<AmqpConnection> | undefined;
  #publisher: Publisher | undefined;
  #opening: Promise<Publisher> | undefined;
  #alive = true;
  #closing: Promise<void> | undefined;

  constructor(id: number, connection: AmqpConnection, settings: Settings, io: OpenOptions) {
    this.id = id;
    this.capabilities = ttlBuckets(settings.maxMessageBytes);
    this.#connection = connection;
    this.#settings = settings;
    this.#io = io;
    const { promise, resolve } = Promise.withResolvers<Fault>();
    this.lost = promise;
    this.#fail = resolve;
    this.#adopt(connection);
  }

  apply(resources: readonly Resource[], mode: 'create' | 'verify'): Promise<readonly Drift[]> {
    return applyResources(this.#connection, resources, mode);
  }

  send(
    batch: readonly Outgoing[],
    { signal, alone = false }: { readonly signal: AbortSignal; readonly alone?: boolean },
    done: (index: number, outcome: Outcome) => void,
  ): void {
    if (batch.length === 0) return;
    let used: Publisher | undefined;
    const sending = new SendCall(batch.length, signal, done, () => {
      // A close that fails means that the channel went with its connection.
      if (alone) used?.channel.close().catch(() => {});
    });
    if (signal.aborted) return;
    if (!alone && this.#publisher?.open) {
      this.#publisher.send(batch, sending);
      return;
    }
    (alone ? this.#openPublisher() : this.#sharedPublisher()).then(
      (publisher) => {
        used = publisher;
        if (!sending.over) publisher.send(batch, sending);
        else if (alone) publisher.channel.close().catch(() => {});
      },
      (error: unknown) => sending.endAll(this.#notOpened(error)),
    );
  }

  async receive(from: Source, attach: (receiver: QueueReceiver) => QueueSink): Promise<void> {
    const queue = queueOf(from);
    // On a channel of its own: a missing queue closes it, and the receiver's belongs to the receiver.
    await onOwnChannel(this.#connection, (channel) => channel.checkQueue(queue));
    const channel = await this.#connection.createChannel();
    const receiver = new Receiver({
      channel,
      queue,
      attach,
      clock: this.#io.clock,
      consumerTimeoutMs: this.#settings.consumerTimeoutMs,
      ended: (ended) => this.#receivers.delete(ended),
    });
    this.#receivers.add(receiver);
  }

  /** `held`: what this session has in flight, and for the retry feed what waits in the buckets of the plan. */
  async inspect(source: Source): Promise<Depth> {
    const queue = queueOf(source);
    const buckets = bucketsInto(this.#io.plan.resources, queue);
    return onOwnChannel(this.#connection, async (channel) => {
      const { messageCount: ready } = await channel.checkQueue(queue);
      let held = 0;
      for (const bucket of buckets) held += (await channel.checkQueue(bucket)).messageCount;
      for (const receiver of this.#receivers) if (receiver.queue === queue) held += receiver.held;
      return { ready, held, asOfMs: this.#io.clock.now() };
    });
  }

  doctor(): Promise<readonly Finding[]> {
    return Promise.resolve(findings(this.#connection, this.#settings));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { clock } = this.#io;
    const { connectTimeoutMs } = this.#settings;
    // A lost session has nothing to flush, and whoever took one connection may have taken all.
    const inTime = this.#alive && (await settledWithin(clock, connectTimeoutMs, this.#closeAll()));
    this.#alive = false;
    if (inTime) return;
    // With an error, so that amqplib ends its channels and timers too.
    const error = new Error('rabbitmq: the session was given up');
    for (const { connection } of this.#connections) connection.stream?.destroy(error);
  }

  /**
   * Channels first: the connection's close overtakes acks that are still in a channel's buffer.
   * Rejects when the connection is lost meanwhile: nothing is left to close then.
   */
  async #closeAll(): Promise<void> {
    await Promise.all([...this.#receivers].map((receiver) => receiver.close()));
    if (this.#publisher?.open) await this.#publisher.channel.close();
    await Promise.all(Array.from(this.#connections, (connection) => connection.close()));
  }

  /** The session lives as long as all its connections. */
  #adopt(connection: AmqpConnection): void {
    let cause: unknown;
    this.#connections.add(connection);
    const { stream } = connection.connection;
    if (stream !== undefined) gatherWrites(stream);
    connection.on('error', (error: unknown) => {
      cause = error;
    });
    // A kill by an operator emits no error; the close carries it.
    connection.on('close', (error: unknown) => {
      this.#connections.delete(connection);
      this.#alive = false;
      if (this.#closing !== undefined) return;
      const reason = error ?? cause ?? new Error('RabbitMQ closed the connection');
      this.#fail({ kind: classifyError(reason) === 'auth' ? 'auth' : 'connection', error: reason });
    });
    connection.on('blocked', (reason: unknown) => {
      const error = new Error(`RabbitMQ takes no messages: ${reason}`);
      this.#io.notice({ kind: 'blocked', error });
    });
    connection.on('unblocked', () => this.#io.notice({ kind: 'unblocked' }));
  }

  #sharedPublisher(): Promise<Publisher> {
    this.#opening ??= this.#openPublisher()
      .then((publisher) => {
        this.#publisher = publisher;
        return publisher;
      })
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  async #openPublisher(): Promise<Publisher> {
    this.#sending ??= this.#openSending();
    const channel = await (await this.#sending).createConfirmChannel();
    return new Publisher(channel, this.#settings.maxMessageBytes, () => this.#alive);
  }

  async #openSending(): Promise<AmqpConnection> {
    try {
      if (!this.#alive || this.#closing) throw new Error('rabbitmq: the session is closed');
      const connection = await connect(this.#settings, this.#io);
      this.#adopt(connection);
      // Closed meanwhile: nobody else would end this one.
      if (!this.#alive || this.#closing) await connection.close();
      return connection;
    } catch (error) {
      this.#sending = undefined;
      throw error;
    }
  }

  /** Nothing was sent. A living session that can connect has reached a limit of channels or connections. */
  #notOpened(error: unknown): Outcome {
    const kind = classifyError(error);
    if (!this.#alive || kind === 'connection') return { is: 'unknown', why: 'session', error };
    return { is: 'rejected', kind: kind === 'auth' ? kind : 'throttled', error };
  }
}

function queueOf({ address }: Source): string {
  const queue = readAddress(address)?.queue;
  if (queue !== undefined) return queue;
  throw new Error(`rabbitmq: "${address}" is not a queue. Take sources from plan.sources().`);
}
