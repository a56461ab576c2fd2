import type { Transaction } from './transaction.ts';

/** What a handler gets: values by key, visible to others once the transaction has committed. */
export class MemoryTx {
  /** @internal */
  readonly transaction: Transaction;

  constructor(transaction: Transaction) {
    this.transaction = transaction;
  }

  /**
   * Changes the value of a key and resolves to the new one. The key is locked until the
   * transaction ends; another transaction waits.
   *
   * @param change - Gets the value so far, undefined at first. What it throws makes COMMIT answer
   * ROLLBACK, like an SQL error.
   * @throws MSG_STORE_TX_ENDED after the end of the transaction.
   */
  effect<T>(key: string, change: (before: T | undefined) => T): Promise<T> {
    const { transaction } = this;
    const { database, overlay } = transaction;
    return transaction.statement(async () => {
      await transaction.lock(`effect ${key}`);
      const before = overlay.has(key) ? overlay.get(key) : database.effect(key);
      const after = change(before as T | undefined);
      overlay.set(key, after);
      transaction.write(() => database.tables.effects.set(key, after));
      transaction.write(() => database.count(key));
      return after;
    });
  }

  /** The value of a key as this transaction sees it. */
  get<T>(key: string): Promise<T | undefined> {
    const { transaction } = this;
    const { database, overlay } = transaction;
    return transaction.statement(
      async () => (overlay.has(key) ? overlay.get(key) : database.effect(key)) as T | undefined,
    );
  }
}
