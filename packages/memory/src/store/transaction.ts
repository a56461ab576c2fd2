import { storeCommitRefused, storeCommitUnknown, storeTxEnded } from '@ackord/core/store';
import type { MemoryDatabase } from './memory-database.ts';
import { MemoryStoreError, STORE } from './memory-store-error.ts';

/** One open transaction: row locks now, writes at commit. */
export class Transaction {
  readonly database: MemoryDatabase;
  /** The store (process) that opened it. */
  readonly client: object;
  readonly signal: AbortSignal | undefined;
  /** Values that this transaction sees and others do not. */
  readonly overlay: Map<string, unknown> = new Map();
  readonly #writes: (() => void)[] = [];
  #last: Promise<unknown> = Promise.resolve();
  #open = true;
  /** Refused every further statement until the end, as after an SQL error. */
  #failed = false;
  /** Why the connection broke. */
  #broken: unknown;

  constructor(database: MemoryDatabase, client: object, signal?: AbortSignal) {
    this.database = database;
    this.client = client;
    this.signal = signal;
  }

  get open(): boolean {
    return this.#open;
  }

  /** A statement failed: COMMIT will be answered with ROLLBACK. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Runs one statement of a handler, after those before it. An error makes COMMIT answer ROLLBACK. */
  statement<T>(run: () => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      this.#check();
      if (this.signal?.aborted)
        throw storeTxEnded({ store: STORE, why: 'the handler was stopped' });
      return run();
    });
  }

  /** Like `statement`, for what belongs to COMMIT: the handler's signal does not matter any more. */
  last<T>(run: () => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      this.#check();
      return run();
    });
  }

  async lock(row: string): Promise<void> {
    await this.database.locks.acquire(this, row, this.signal);
    // The connection may have broken while it waited.
    this.#check();
  }

  /** Has its effect at commit, all of them at once. */
  write(run: () => void): void {
    this.#writes.push(run);
  }

  /** Waits for statements that were not awaited. */
  async idle(): Promise<void> {
    await this.#last;
  }

  /** @throws MSG_STORE_COMMIT_REFUSED or MSG_STORE_COMMIT_UNKNOWN, or the raw error of a broken connection. */
  commit(): void {
    this.#check();
    const fault = this.database.takeCommitFault();
    if (this.#failed || fault === 'refuse') {
      this.rollback();
      throw storeCommitRefused({ store: STORE });
    }
    if (fault === 'before') {
      this.rollback();
      throw storeCommitUnknown({ store: STORE });
    }
    for (const write of this.#writes) write();
    this.#end();
    if (fault === 'after') throw storeCommitUnknown({ store: STORE });
  }

  /** @param instead - A write that happens in the same instant, before any lock is free. */
  rollback(instead?: () => void): void {
    if (!this.#open) return;
    instead?.();
    this.#end();
  }

  /** The connection is gone: rolled back, and everything later rejects with the error. */
  break(error: unknown): void {
    if (!this.#open) return;
    this.#broken = error;
    this.database.locks.cancel(this, error);
    this.#end();
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(async () => {
      if (this.#open && this.#failed) {
        throw new MemoryStoreError(
          'unknown',
          'A statement failed before: the transaction is aborted',
        );
      }
      try {
        return await run();
      } catch (error) {
        this.#failed = true;
        throw error;
      }
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  #check(): void {
    if (this.#broken !== undefined) throw this.#broken;
    if (!this.#open) throw storeTxEnded({ store: STORE });
  }

  #end(): void {
    this.#open = false;
    this.database.locks.cancel(this, storeTxEnded({ store: STORE }));
    this.database.ended(this);
    this.database.locks.release(this);
  }
}
