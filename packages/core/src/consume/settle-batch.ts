import type { QueueReceiver, Settle, Settled, Token } from '../driver/driver.ts';

interface Waiting {
  readonly token: Token;
  readonly how: Settle;
  readonly resolve: (settled: Settled) => void;
}

/** Collects the settles of one turn, so that a driver can fold them into one frame or request. */
export class SettleBatch {
  readonly #receiver: QueueReceiver;
  readonly #items: number;
  /** Aborts when the session is lost: a settle without an end would hang for ever. */
  readonly #signal: AbortSignal;
  #waiting: Waiting[] = [];
  #armed = false;
  readonly #flushes = new Set<Promise<void>>();

  constructor(receiver: QueueReceiver, items: number, signal: AbortSignal) {
    this.#receiver = receiver;
    this.#items = items;
    this.#signal = signal;
  }

  add(token: Token, how: Settle): Promise<Settled> {
    if (this.#signal.aborted) return Promise.resolve('stale');
    return new Promise((resolve) => {
      this.#waiting.push({ token, how, resolve });
      if (this.#armed) return;
      this.#armed = true;
      setImmediate(() => {
        this.#armed = false;
        this.#flush();
      });
    });
  }

  /** Resolves when everything that was added has its answer. */
  async flushed(): Promise<void> {
    this.#flush();
    while (this.#flushes.size > 0) await Promise.all(this.#flushes);
  }

  #flush(): void {
    const all = this.#waiting;
    this.#waiting = [];
    for (let at = 0; at < all.length; at += this.#items) {
      const flush = this.#send(all.slice(at, at + this.#items)).finally(() => {
        this.#flushes.delete(flush);
      });
      this.#flushes.add(flush);
    }
  }

  async #send(part: readonly Waiting[]): Promise<void> {
    const batch = part.map(({ token, how }) => ({ token, how }));
    const answer = await this.#receiver.settle(batch, this.#signal).catch(() => undefined);
    for (const [index, waiting] of part.entries()) waiting.resolve(answer?.[index] ?? 'unknown');
  }
}
