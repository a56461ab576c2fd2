import type {
  Clock,
  Delivery,
  QueueReceiver,
  QueueSink,
  Settle,
  Settled,
  Token,
} from '@ackord/core/driver';
import type { MemoryFaults } from '../broker/faults.ts';
import { nativeOf, rawOf } from '../broker/stored-message.ts';
import type { Held, MessageQueue, Taker } from './message-queue.ts';

/** Longest lease of one delivery, as on SQS: 12 h from the receive. */
const LONGEST_LEASE_MS = 43_200_000;

export interface ReceiverOptions {
  readonly queue: MessageQueue;
  readonly clock: Clock;
  readonly faults: MemoryFaults;
  readonly leaseMs: number | undefined;
  readonly lanes: boolean;
  readonly onEnd: (receiver: MemoryQueueReceiver) => void;
}

export class MemoryQueueReceiver implements QueueReceiver, Taker {
  readonly lease?: NonNullable<QueueReceiver['lease']>;
  readonly #options: ReceiverOptions;
  /** Handed over and not settled by core, whatever the broker has done with it since. */
  readonly #open = new Set<Held>();
  #sink: QueueSink | undefined;
  #window = 0;
  #stopped = false;
  #dead = false;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    if (options.leaseMs !== undefined) {
      this.lease = { ms: options.leaseMs, extendable: true, maxMs: LONGEST_LEASE_MS };
    }
  }

  start(attach: (receiver: QueueReceiver) => QueueSink): void {
    this.#sink = attach(this);
    this.#options.queue.attach(this);
    this.#options.queue.wake();
  }

  setWindow(n: number): void {
    this.#window = n;
    this.#options.queue.wake();
  }

  settle(
    batch: readonly { readonly token: Token; readonly how: Settle }[],
    signal: AbortSignal,
  ): Promise<readonly Settled[]> {
    if (signal.aborted) return Promise.resolve(batch.map(() => 'unknown'));
    const answers = batch.map(({ token, how }) => this.#settleOne(token, how));
    if (!this.#dead) this.#options.queue.wake();
    return Promise.resolve(answers);
  }

  stop(): Promise<void> {
    this.#stopped = true;
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.end();
    return Promise.resolve();
  }

  /** Without a word to the sink: closed by core, or lost with its session. */
  end(): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#open.clear();
    this.#options.queue.detach(this);
    this.#options.onEnd(this);
  }

  room(): number {
    return this.#stopped || this.#dead ? 0 : Math.max(this.#window - this.#open.size, 0);
  }

  deliver(batch: readonly Held[]): void {
    if (batch.length === 0) return;
    for (const held of batch) this.#open.add(held);
    this.#sink?.delivered(batch.map((held) => this.#deliveryOf(held)));
  }

  cancelled(): void {
    if (this.#dead) return;
    this.end();
    this.#sink?.fault({ kind: 'cancelled' }, true);
  }

  #settleOne(token: Token, how: Settle): Settled {
    const held = token as Held;
    if (this.#dead || !this.#open.has(held)) return 'stale';
    if (how.do !== 'extend') this.#open.delete(held);
    if (how.do === 'drop') return 'ok';
    if (!held.live) return 'stale';
    const lost = this.#options.faults.takeLostSettle();
    if (lost) return lost;
    const { queue } = this.#options;
    if (how.do === 'ack') queue.ack(held);
    else if (how.do === 'release') queue.release(held);
    else if (how.do === 'return') queue.returnAfter(held, how.delayMs);
    else if (this.lease) queue.extend(held, how.ms);
    return 'ok';
  }

  #deliveryOf(held: Held): Delivery {
    const { message, deliveries } = held.queued;
    const { body, headers } = rawOf(message);
    const lane = this.#options.lanes ? message.key : undefined;
    return {
      token: held,
      body,
      headers,
      native: nativeOf(message),
      receivedAtMs: this.#options.clock.now(),
      brokerAtMs: message.storedAtMs,
      redelivered: deliveries > 1,
      nativeCount: deliveries,
      ...(lane === undefined ? {} : { lane }),
      ...(held.leaseUntilMs === undefined ? {} : { leaseUntilMs: held.leaseUntilMs }),
    };
  }
}
