import type { AttemptRow, Claim, Claimed, InboxStore, UnitOfWork } from '@ackord/core/store';
import type { MemoryDatabase } from './memory-database.ts';
import type { MemoryTx } from './memory-tx.ts';
import { MemoryUnit } from './memory-unit.ts';
import { rowKey } from './tables.ts';

export class MemoryInbox implements InboxStore<MemoryTx> {
  readonly #database: MemoryDatabase;
  readonly #client: object;

  constructor(database: MemoryDatabase, client: object) {
    this.#database = database;
    this.#client = client;
  }

  async begin(claims: readonly Claim[], signal: AbortSignal): Promise<UnitOfWork<MemoryTx>> {
    signal.throwIfAborted();
    const transaction = this.#database.begin(this.#client, signal);
    try {
      // In one order for everybody, so that two batches with the same messages do not deadlock.
      const rows = [...claims.map(inboxLock), ...claims.flatMap(versionLock)];
      for (const row of rows.toSorted()) await transaction.lock(row);
      return new MemoryUnit(transaction, claims, this.#claimed(claims));
    } catch (error) {
      transaction.rollback();
      throw error;
    }
  }

  async purge(options: {
    readonly consumer: string;
    readonly olderThanMs: number;
    readonly signal: AbortSignal;
  }): Promise<number> {
    const { consumer, olderThanMs, signal } = options;
    signal.throwIfAborted();
    this.#database.reach(this.#client);
    const { inbox, attempts } = this.#database.tables;
    const now = this.#database.clock.now();
    const beforeMs = now - olderThanMs;
    let purged = 0;
    for (const [key, row] of [...inbox]) {
      if (row.consumer === consumer && row.processedAtMs < beforeMs)
        purged += Number(inbox.delete(key));
    }
    for (const [key, { consumer: of, row }] of [...attempts]) {
      const waits = row.dueAtMs !== undefined && row.dueAtMs >= now;
      if (of === consumer && row.lastFailedAtMs < beforeMs && !waits) attempts.delete(key);
    }
    return purged;
  }

  #claimed(claims: readonly Claim[]): readonly Claimed[] {
    const { inbox, attempts, versions } = this.#database.tables;
    const seen = new Set<string>();
    return claims.map(({ consumer, messageId, aggregate }) => {
      const key = rowKey(consumer, messageId);
      const fresh = !inbox.has(key) && !seen.has(key);
      seen.add(key);
      const row: AttemptRow | undefined = attempts.get(key)?.row;
      const lastVersion = aggregate && versions.get(rowKey(consumer, aggregate.type, aggregate.id));
      return {
        fresh,
        ...(row && { attempts: row }),
        ...(lastVersion !== undefined && { lastVersion }),
      };
    });
  }
}

function inboxLock({ consumer, messageId }: Claim): string {
  return `inbox ${rowKey(consumer, messageId)}`;
}

function versionLock({ consumer, aggregate }: Claim): readonly string[] {
  return aggregate ? [`version ${rowKey(consumer, aggregate.type, aggregate.id)}`] : [];
}
