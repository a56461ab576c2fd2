import type { Settle, Settled, Token } from './driver.ts';

/** One delivery. Only the object that was handed out settles it. */
interface Held<Handle> {
  readonly handle: Handle;
  /** Given up by `drop`: nothing may be said about it any more, and no multiple-ack may cover it. */
  dropped: boolean;
}

/** Client calls. `upTo`: for this delivery and everything unsettled that came before it. */
export interface SettleCalls<Handle> {
  ack(handle: Handle, upTo: boolean): void;
  release(handle: Handle, upTo: boolean): void;
}

/**
 * Unsettled deliveries of one receiver in the order in which they came, for brokers that settle
 * without an answer and in groups. The guard against settling twice.
 */
export class SettleLedger<Handle> {
  readonly #calls: SettleCalls<Handle>;
  readonly #held = new Set<Held<Handle>>();
  #dropped = 0;
  #sent = 0;

  constructor(calls: SettleCalls<Handle>) {
    this.#calls = calls;
  }

  /** Handed out and neither settled nor dropped. */
  get size(): number {
    return this.#held.size - this.#dropped;
  }

  /** Calls made so far. */
  get sent(): number {
    return this.#sent;
  }

  add(handle: Handle): Token {
    const held: Held<Handle> = { handle, dropped: false };
    this.#held.add(held);
    return held;
  }

  clear(): void {
    this.#held.clear();
    this.#dropped = 0;
  }

  /**
   * `stale` for what is settled, dropped or foreign, and for all when a call throws; `unknown` for
   * `return` and `extend`, which such brokers do not have.
   */
  settle(batch: readonly { readonly token: Token; readonly how: Settle }[]): readonly Settled[] {
    const acks = new Set<Held<Handle>>();
    const releases = new Set<Held<Handle>>();
    const answers = batch.map(({ token, how }): Settled => {
      const held = token as Held<Handle>;
      if (!this.#held.has(held) || held.dropped) return 'stale';
      if (acks.has(held) || releases.has(held)) return 'stale';
      if (how.do === 'ack') acks.add(held);
      else if (how.do === 'release') releases.add(held);
      else if (how.do === 'drop') this.#drop(held);
      else return 'unknown';
      return 'ok';
    });
    try {
      this.#write(acks, (handle, upTo) => this.#calls.ack(handle, upTo));
      this.#write(releases, (handle, upTo) => this.#calls.release(handle, upTo));
      return answers;
    } catch {
      // Closed under our hands; nothing more can be sent for these, the broker returns them.
      return answers.map((): Settled => 'stale');
    }
  }

  /** Hands everything back that was not dropped. */
  releaseAll(): void {
    const rest = new Set([...this.#held].filter(({ dropped }) => !dropped));
    this.#write(rest, (handle, upTo) => this.#calls.release(handle, upTo));
  }

  #drop(held: Held<Handle>): void {
    held.dropped = true;
    this.#dropped += 1;
  }

  #send(send: (handle: Handle, upTo: boolean) => void, handle: Handle, upTo: boolean): void {
    this.#sent += 1;
    send(handle, upTo);
  }

  /** One call for the longest prefix of what is unsettled, one for each of the rest. */
  #write(chosen: Set<Held<Handle>>, send: (handle: Handle, upTo: boolean) => void): void {
    let last: Held<Handle> | undefined;
    let covered = 0;
    for (const held of this.#held) {
      if (!chosen.delete(held)) break;
      this.#held.delete(held);
      last = held;
      covered += 1;
    }
    if (last !== undefined) this.#send(send, last.handle, covered > 1);
    for (const held of chosen) {
      this.#held.delete(held);
      this.#send(send, held.handle, false);
    }
  }
}
