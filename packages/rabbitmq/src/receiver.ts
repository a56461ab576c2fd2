import {
  type Clock,
  type Delivery,
  type Fault,
  type QueueReceiver,
  type QueueSink,
  type Settle,
  type Settled,
  SettleLedger,
  type Token,
  whenAborted,
} from '@ackord/core/driver';
import { classifyError } from './classify-error.ts';
import type { AmqpChannel, AmqpMessage } from './client.ts';
import { deliveryCount, fromHeaders } from './wire-headers.ts';

/** Prefetch is a 16-bit field. */
const MAX_WINDOW = 65_535;

/** A quorum queue takes about 32 pipelined settles at once and drops the rest when their channel closes. */
const SAFE_SETTLES = 16;

export interface ReceiverOptions {
  readonly channel: AmqpChannel;
  readonly queue: string;
  readonly clock: Clock;
  readonly consumerTimeoutMs: number;
  readonly attach: (receiver: QueueReceiver) => QueueSink;
  readonly ended: (receiver: Receiver) => void;
}

/** One queue on a channel of its own. */
export class Receiver implements QueueReceiver {
  readonly lease: { readonly ms: number; readonly extendable: boolean; readonly maxMs: number };
  readonly queue: string;
  readonly #options: ReceiverOptions;
  readonly #channel: AmqpChannel;
  readonly #unsettled: SettleLedger<number>;
  readonly #sink: QueueSink;
  #consumerTag: string | undefined;
  #window = 0;
  /** Prefetch of the running consumer; 0: none runs. */
  #running = 0;
  #stopping = false;
  #dead = false;
  #closing: Promise<void> | undefined;
  /** Consuming and cancelling, one after the other. Never rejects. */
  #changes: Promise<void> = Promise.resolve();

  constructor(options: ReceiverOptions) {
    const { channel, queue, consumerTimeoutMs: ms } = options;
    this.lease = { ms, extendable: false, maxMs: ms };
    this.queue = queue;
    this.#options = options;
    this.#channel = channel;
    // A second ack of the same tag makes the broker close the channel (406). `nack` does not count as a failure.
    this.#unsettled = new SettleLedger<number>({
      ack: (deliveryTag, upTo) => channel.ack({ fields: { deliveryTag } }, upTo),
      release: (deliveryTag, upTo) => channel.nack({ fields: { deliveryTag } }, upTo, true),
    });
    let cause: unknown;
    channel.on('error', (error: unknown) => {
      cause = error;
    });
    // Without a cause the connection took the channel along, and the session reports that.
    channel.on('close', () =>
      this.#end(cause === undefined ? undefined : { kind: classifyError(cause), error: cause }),
    );
    this.#sink = options.attach(this);
  }

  /** Deliveries handed out and not settled. */
  get held(): number {
    return this.#unsettled.size;
  }

  setWindow(n: number): void {
    this.#window = Math.min(Math.max(Math.floor(n), 0), MAX_WINDOW);
    this.#adjust();
  }

  /**
   * `return` and `extend` do not exist in this profile: nothing is sent, the answer is `unknown`. A
   * release waits for a cancel that is under way, or this receiver would be given the message again.
   */
  async settle(
    batch: readonly { readonly token: Token; readonly how: Settle }[],
    signal: AbortSignal,
  ): Promise<readonly Settled[]> {
    const cancelling = this.#running > 0 && this.#target() === 0;
    if (cancelling && batch.some(({ how }) => how.do === 'release')) {
      await Promise.race([this.#changes, whenAborted(signal)]);
    }
    const answers = this.#dead || this.#closing ? batch.map(stale) : this.#unsettled.settle(batch);
    this.#adjust();
    return answers;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#adjust();
    await this.#changes;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.stop();
    if (this.#dead) return;
    try {
      this.#unsettled.releaseAll();
      if (this.#unsettled.sent > SAFE_SETTLES) await this.#barrier();
      await this.#channel.close();
    } catch {
      // The channel or the connection went first. The broker returns what it did not take.
    }
    this.#end();
  }

  /**
   * A quorum queue answers a get only after all settles before it. The message that it takes moves
   * behind others that were returned, so a queue that was only looked at is spared this.
   */
  async #barrier(): Promise<void> {
    const message = await this.#channel.get(this.queue);
    if (message) this.#channel.nack(message, false, true);
  }

  #end(fault?: Fault): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#unsettled.clear();
    this.#options.ended(this);
    if (fault !== undefined) this.#sink.fault(fault, true);
  }

  /** The broker ended the consumer: queue deleted, node gone, consumer timeout. A late ack could kill the channel. */
  #cancelled(): void {
    this.#end({ kind: 'cancelled' });
    this.#channel.close().catch(() => {
      // Closed already, which is all that was wanted.
    });
  }

  /** Wanted prefetch. While more than a window is unsettled nothing is consumed, so that at most two are held. */
  #target(): number {
    const full = this.#running === 0 && this.#unsettled.size > this.#window;
    return this.#stopping || this.#dead || full ? 0 : this.#window;
  }

  #adjust(): void {
    if (this.#target() !== this.#running) this.#changes = this.#changes.then(() => this.#change());
  }

  /** A quorum queue ignores a prefetch that changes under a running consumer: cancel and consume again. */
  async #change(): Promise<void> {
    try {
      while (!this.#dead && this.#target() !== this.#running) {
        await this.#cancel();
        const window = this.#target();
        if (window > 0) await this.#consume(window);
      }
    } catch (error) {
      // A channel that closed has reported itself by its close event, and this says nothing more.
      this.#end({ kind: classifyError(error), error });
    }
  }

  async #cancel(): Promise<void> {
    if (this.#consumerTag === undefined) return;
    const tag = this.#consumerTag;
    this.#consumerTag = undefined;
    await this.#channel.cancel(tag);
    this.#running = 0;
  }

  async #consume(window: number): Promise<void> {
    await this.#channel.prefetch(window);
    this.#running = window;
    const { consumerTag } = await this.#channel.consume(this.queue, (message) => {
      if (message === null) this.#cancelled();
      else this.#sink.delivered([this.#toDelivery(message)]);
    });
    this.#consumerTag = consumerTag;
  }

  #toDelivery({ fields, properties, content }: AmqpMessage): Delivery {
    const receivedAtMs = this.#options.clock.now();
    const { messageId, type } = properties;
    return {
      token: this.#unsettled.add(fields.deliveryTag),
      body: content,
      headers: fromHeaders(properties.headers),
      native: {
        ...(typeof messageId === 'string' && { id: messageId }),
        ...(typeof type === 'string' && { type }),
        subject: fields.routingKey,
      },
      receivedAtMs,
      leaseUntilMs: receivedAtMs + this.lease.ms,
      redelivered: fields.redelivered,
      nativeCount: deliveryCount(properties.headers),
      ...(this.#stopping && { late: true as const }),
    };
  }
}

const stale = (): Settled => 'stale';
