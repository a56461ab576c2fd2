import { MemoryStoreError } from './memory-store-error.ts';

interface Waiter {
  readonly owner: object;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Row locks of transactions, held until their end; waiters are served in order. */
export class RowLocks {
  readonly #holders = new Map<string, object>();
  readonly #waiters = new Map<string, Waiter[]>();
  /** An owner waits for one row at a time. */
  readonly #waitsFor = new Map<object, string>();

  /** Rejects when waiting would be a deadlock, when the signal aborts, or by `cancel`. */
  async acquire(owner: object, row: string, signal?: AbortSignal): Promise<void> {
    const holder = this.#holders.get(row);
    if (holder === owner) return;
    if (!holder) {
      this.#holders.set(row, owner);
      return;
    }
    signal?.throwIfAborted();
    if (this.#wouldDeadlock(owner, holder)) {
      throw new MemoryStoreError('again', `Deadlock on ${row}`);
    }
    const aborted = (): void => this.cancel(owner, signal?.reason);
    signal?.addEventListener('abort', aborted, { once: true });
    try {
      await new Promise<void>((resolve, reject) => {
        this.#waitsFor.set(owner, row);
        const waiters = this.#waiters.get(row) ?? [];
        waiters.push({ owner, resolve, reject });
        this.#waiters.set(row, waiters);
      });
    } finally {
      signal?.removeEventListener('abort', aborted);
    }
  }

  /** Ends the wait of an owner, if it waits. */
  cancel(owner: object, error: unknown): void {
    const row = this.#waitsFor.get(owner);
    if (row === undefined) return;
    this.#waitsFor.delete(owner);
    const waiters = this.#waiters.get(row) ?? [];
    const at = waiters.findIndex((waiter) => waiter.owner === owner);
    for (const waiter of waiters.splice(at, 1)) waiter.reject(error);
  }

  /** Gives everything that an owner holds to those who wait. */
  release(owner: object): void {
    for (const [row, holder] of [...this.#holders]) {
      if (holder !== owner) continue;
      const next = this.#waiters.get(row)?.shift();
      if (!next) {
        this.#holders.delete(row);
        this.#waiters.delete(row);
        continue;
      }
      this.#holders.set(row, next.owner);
      this.#waitsFor.delete(next.owner);
      next.resolve();
    }
  }

  #wouldDeadlock(owner: object, holder: object): boolean {
    for (let at: object | undefined = holder; at; ) {
      if (at === owner) return true;
      const row = this.#waitsFor.get(at);
      at = row === undefined ? undefined : this.#holders.get(row);
    }
    return false;
  }
}
