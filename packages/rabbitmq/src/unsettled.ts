import type { Settle, Settled, Token } from '@ackord/core/driver';
import type { AmqpChannel } from './client.ts';

/** Identity of a delivery: only the object that was handed out settles it. */
interface Held {
  readonly deliveryTag: number;
  /** Given up by `drop`: nothing may be said about it any more, and no multiple-ack may cover it. */
  dropped: boolean;
}

/**
 * Deliveries of one channel in the order in which they came. The guard against settling twice: a
 * second ack of the same tag makes the broker close the channel (406).
 */
export class Unsettled {
  readonly #channel: AmqpChannel;
  readonly #held = new Map<number, Held>();
  #dropped = 0;
  #used = false;

  constructor(channel: AmqpChannel) {
    this.#channel = channel;
  }

  get size(): number {
    return this.#held.size - this.#dropped;
  }

  /** Whether anything was settled so far. */
  get used(): boolean {
    return this.#used;
  }

  add(deliveryTag: number): Token {
    const held: Held = { deliveryTag, dropped: false };
    this.#held.set(deliveryTag, held);
    return held;
  }

  clear(): void {
    this.#held.clear();
    this.#dropped = 0;
  }

  settle(batch: readonly { readonly token: Token; readonly how: Settle }[]): readonly Settled[] {
    const acks = new Set<Held>();
    const releases = new Set<Held>();
    const answers = batch.map(({ token, how }): Settled => {
      const held = this.#find(token);
      if (held === undefined || acks.has(held) || releases.has(held)) return 'stale';
      if (how.do === 'ack') acks.add(held);
      else if (how.do === 'release') releases.add(held);
      else if (how.do === 'drop') this.#drop(held);
      else return 'unknown';
      return 'ok';
    });
    try {
      this.#write(acks, (held, multiple) => this.#channel.ack(frame(held), multiple));
      this.#write(releases, (held, multiple) => this.#channel.nack(frame(held), multiple, true));
      return answers;
    } catch {
      // Closed under our hands; nothing more can be sent for these, the broker returns them.
      return answers.map((): Settled => 'stale');
    }
  }

  /** Hands everything back. `nack` does not count as a failure, closing the channel would. */
  releaseAll(): void {
    const rest = new Set([...this.#held.values()].filter(({ dropped }) => !dropped));
    this.#write(rest, (held, multiple) => this.#channel.nack(frame(held), multiple, true));
  }

  #find(token: Token): Held | undefined {
    const tag: unknown = typeof token === 'object' && token ? Reflect.get(token, 'deliveryTag') : 0;
    const held = typeof tag === 'number' ? this.#held.get(tag) : undefined;
    return held === token && !held?.dropped ? held : undefined;
  }

  #drop(held: Held): void {
    held.dropped = true;
    this.#dropped += 1;
  }

  /** One frame for the longest prefix of what is unsettled, one for each of the rest. */
  #write(chosen: Set<Held>, send: (held: Held, multiple: boolean) => void): void {
    if (chosen.size === 0) return;
    let last: Held | undefined;
    let covered = 0;
    for (const held of this.#held.values()) {
      if (!chosen.delete(held)) break;
      this.#held.delete(held.deliveryTag);
      last = held;
      covered += 1;
    }
    if (last !== undefined) send(last, covered > 1);
    for (const held of chosen) {
      this.#held.delete(held.deliveryTag);
      send(held, false);
    }
    this.#used = true;
  }
}

const frame = ({ deliveryTag }: Held): { readonly fields: { readonly deliveryTag: number } } => ({
  fields: { deliveryTag },
});
