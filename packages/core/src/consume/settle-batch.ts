import type { QueueReceiver, Settle, Settled, Token } from '../driver/driver.ts';
import type { Clock } from '../time/clock.ts';

interface Waiting {
  readonly token: Token;
  readonly how: Settle;
  readonly resolve: (settled: Settled) => void;
}

export interface SettleBatchOptions {
  /** Settles that fit one call of the driver. */
  readonly items: number;
  /** Acks that are held back at most while there is more to do; 1: none. */
  readonly most: number;
  /** True while handlers run whose acks can go along. */
  readonly busy: () => boolean;
  readonly clock: Clock;
  /** Aborts when the session is lost: a settle without an end would hang for ever. */
  readonly signal: AbortSignal;
}

/** Longest time for which an ack waits for others; a crash meanwhile brings their messages again. */
const LONGEST_WAIT_MS = 5;

/**
 * Collects settles, so that a driver can fold them into one frame or request: those of one turn,
 * and under load acks of a few turns, since each answer of its own costs a system call here and a
 * refill of the window at the broker. The last ack of a burst and everything else never waits.
 */
export class SettleBatch {
  readonly #receiver: QueueReceiver;
  readonly #options: SettleBatchOptions;
  #waiting: Waiting[] = [];
  #armed = false;
  #urgent = false;
  #cancelTimer: (() => void) | undefined;
  readonly #flushes = new Set<Promise<void>>();

  constructor(receiver: QueueReceiver, options: SettleBatchOptions) {
    this.#receiver = receiver;
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#flush(), { once: true });
  }

  add(token: Token, how: Settle): Promise<Settled> {
    if (this.#options.signal.aborted) return Promise.resolve('stale');
    return new Promise((resolve) => {
      this.#waiting.push({ token, how, resolve });
      if (how.do !== 'ack') this.#urgent = true;
      if (this.#armed) return;
      this.#armed = true;
      setImmediate(() => {
        this.#armed = false;
        this.#endTurn();
      });
    });
  }

  /** Resolves when everything that was added has its answer. */
  async flushed(): Promise<void> {
    this.#flush();
    while (this.#flushes.size > 0) await Promise.all(this.#flushes);
  }

  #endTurn(): void {
    const { most, busy, clock } = this.#options;
    if (this.#urgent || this.#waiting.length >= most || !busy()) this.#flush();
    else this.#cancelTimer ??= clock.after(LONGEST_WAIT_MS, () => this.#flush());
  }

  #flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#urgent = false;
    const { items } = this.#options;
    const all = this.#waiting;
    this.#waiting = [];
    for (let at = 0; at < all.length; at += items) {
      const flush = this.#send(all.slice(at, at + items)).finally(() => {
        this.#flushes.delete(flush);
      });
      this.#flushes.add(flush);
    }
  }

  async #send(part: readonly Waiting[]): Promise<void> {
    const batch = part.map(({ token, how }) => ({ token, how }));
    const answer = await this.#receiver.settle(batch, this.#options.signal).catch(() => undefined);
    for (const [index, waiting] of part.entries()) waiting.resolve(answer?.[index] ?? 'unknown');
  }
}
