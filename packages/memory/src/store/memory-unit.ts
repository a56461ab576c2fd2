import type { AttemptFailure, Claim, Claimed, CommitWork, UnitOfWork } from '@ackord/core/store';
import { failedRow } from './failed-row.ts';
import { MemoryTx } from './memory-tx.ts';
import { addOutboxRows } from './outbox-rows.ts';
import { rowKey } from './tables.ts';
import type { Transaction } from './transaction.ts';

export class MemoryUnit implements UnitOfWork<MemoryTx> {
  readonly tx: MemoryTx;
  readonly claimed: readonly Claimed[];
  readonly #transaction: Transaction;
  readonly #claims: readonly Claim[];

  constructor(transaction: Transaction, claims: readonly Claim[], claimed: readonly Claimed[]) {
    this.tx = new MemoryTx(transaction);
    this.claimed = claimed;
    this.#transaction = transaction;
    this.#claims = claims;
  }

  async commit({ outcomes, outbox }: CommitWork): Promise<void> {
    const transaction = this.#transaction;
    await transaction.idle();
    try {
      // After a failed statement nothing more is written: COMMIT gives the answer.
      if (!transaction.failed) await transaction.last(() => addOutboxRows(transaction, outbox));
      transaction.write(() => this.#settle(outcomes));
      transaction.commit();
    } catch (error) {
      transaction.rollback();
      throw error;
    }
  }

  async fail(failures: readonly (AttemptFailure | undefined)[]): Promise<void> {
    const transaction = this.#transaction;
    const { database, client } = transaction;
    try {
      database.reach(client);
      if (transaction.open) transaction.rollback(() => this.#record(failures));
      else this.#record(failures);
    } finally {
      transaction.rollback();
    }
  }

  async rollback(): Promise<void> {
    this.#transaction.rollback();
  }

  #settle(outcomes: CommitWork['outcomes']): void {
    const { tables, clock } = this.#transaction.database;
    for (const [at, { consumer, messageId, aggregate }] of this.#claims.entries()) {
      const key = rowKey(consumer, messageId);
      const { outcome, version } = outcomes[at] ?? { outcome: 'duplicate' };
      tables.attempts.delete(key);
      if (outcome !== 'duplicate') {
        tables.inbox.set(key, { consumer, messageId, outcome, processedAtMs: clock.now() });
      }
      if (aggregate && version !== undefined) {
        const row = rowKey(consumer, aggregate.type, aggregate.id);
        tables.versions.set(row, Math.max(version, tables.versions.get(row) ?? version));
      }
    }
  }

  #record(failures: readonly (AttemptFailure | undefined)[]): void {
    const { attempts } = this.#transaction.database.tables;
    const recorded = new Set<string>();
    for (const [at, { consumer, messageId }] of this.#claims.entries()) {
      const failure = failures[at];
      const key = rowKey(consumer, messageId);
      // A message that came twice counts once.
      if (!failure || recorded.has(key)) continue;
      recorded.add(key);
      const { errorType, errorText } = failure;
      attempts.set(key, {
        consumer,
        messageId,
        row: failedRow(attempts.get(key)?.row, failure),
        ...(errorType === undefined ? {} : { errorType }),
        ...(errorText === undefined ? {} : { errorText }),
      });
    }
  }
}
