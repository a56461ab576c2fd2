import type {
  FencedRow,
  LeaseRequest,
  OutboxDepth,
  OutboxMessage,
  OutboxQuery,
  OutboxRow,
  OutboxStore,
  RefusedReason,
  SlotLease,
} from '@ackord/core/store';
import type { MemoryDatabase } from './memory-database.ts';
import type { MemoryTx } from './memory-tx.ts';
import { addOutboxRows, outboxId } from './outbox-rows.ts';
import { rowKey, type StoredOutboxRow } from './tables.ts';

export class MemoryOutbox implements OutboxStore<MemoryTx> {
  readonly #database: MemoryDatabase;
  readonly #client: object;

  constructor(database: MemoryDatabase, client: object) {
    this.#database = database;
    this.#client = client;
  }

  add({ transaction }: MemoryTx, messages: readonly OutboxMessage[]): Promise<void> {
    return transaction.statement(() => addOutboxRows(transaction, messages));
  }

  nextVersion(
    { transaction }: MemoryTx,
    of: { readonly destination: string; readonly type: string; readonly id: string },
  ): Promise<number> {
    const { aggregates } = this.#database.tables;
    const row = rowKey(of.destination, of.type, of.id);
    const seen = `aggregate ${row}`;
    return transaction.statement(async () => {
      await transaction.lock(seen);
      const last =
        (transaction.overlay.get(seen) as number | undefined) ?? aggregates.get(row) ?? 0;
      const version = last + 1;
      transaction.overlay.set(seen, version);
      transaction.write(() => aggregates.set(row, version));
      return version;
    });
  }

  async lease(request: LeaseRequest): Promise<readonly SlotLease[]> {
    this.#reach(request.signal);
    return this.#database.slots.lease(request);
  }

  async release(owner: string): Promise<void> {
    this.#reach();
    this.#database.slots.release(owner);
  }

  async fetch(query: OutboxQuery): Promise<readonly OutboxRow[]> {
    this.#reach(query.signal);
    const { brokers, limit } = query;
    const held = query.leases.filter((lease) => this.#database.slots.holds(lease));
    const slots = new Set(held.map(({ slot }) => slot));
    const except = new Set(query.except);
    const blocked = new Set<string>();
    const found: OutboxRow[] = [];
    for (const { row, refused } of this.#rows()) {
      const lane = row.key === undefined ? undefined : rowKey(row.broker, row.target, row.key);
      if (refused?.blocks && lane !== undefined) blocked.add(lane);
      if (refused || (lane !== undefined && blocked.has(lane))) continue;
      if (!slots.has(row.slot) || !brokers.includes(row.broker) || except.has(row.seq)) continue;
      if (found.length === limit) break;
      found.push({ ...row, body: new Uint8Array(row.body) });
    }
    return found;
  }

  async remove(rows: readonly FencedRow[], signal: AbortSignal): Promise<readonly string[]> {
    this.#reach(signal);
    const { tables, slots } = this.#database;
    const removed: string[] = [];
    for (const row of rows) {
      const stored = slots.fences(row) ? this.#row(row) : undefined;
      if (!stored) continue;
      tables.outbox.delete(row.seq);
      tables.outboxIds.delete(outboxId(stored.row));
      removed.push(row.seq);
    }
    return removed;
  }

  async refuse(row: FencedRow, reason: RefusedReason, signal: AbortSignal): Promise<boolean> {
    this.#reach(signal);
    const { tables, slots } = this.#database;
    const stored = this.#row(row);
    if (!stored || stored.refused || !slots.fences(row)) return false;
    tables.outbox.set(row.seq, { ...stored, refused: reason });
    return true;
  }

  /** Makes refused rows ready again, at their places; returns how many. Without `ids`: all. */
  async retryRefused(options: { readonly ids?: readonly string[] } = {}): Promise<number> {
    this.#reach();
    const refused = this.#rows().filter(
      (stored) => stored.refused && (options.ids?.includes(stored.row.messageId) ?? true),
    );
    for (const { row } of refused) this.#database.tables.outbox.set(row.seq, { row });
    return refused.length;
  }

  async depth(signal: AbortSignal): Promise<OutboxDepth> {
    this.#reach(signal);
    const rows = this.#rows();
    const ready = rows.filter(({ refused }) => !refused);
    const oldestAtMs = ready[0]?.row.createdAtMs;
    return {
      ready: ready.length,
      refused: rows.length - ready.length,
      ...(oldestAtMs === undefined ? {} : { oldestAtMs }),
    };
  }

  /** In writing order: a late committer may have an earlier number. */
  #rows(): readonly StoredOutboxRow[] {
    const rows = [...this.#database.tables.outbox.values()];
    return rows.sort((a, b) => Number(a.row.seq) - Number(b.row.seq));
  }

  #row({ seq, slot }: FencedRow): StoredOutboxRow | undefined {
    const stored = this.#database.tables.outbox.get(seq);
    return stored?.row.slot === slot ? stored : undefined;
  }

  #reach(signal?: AbortSignal): void {
    signal?.throwIfAborted();
    this.#database.reach(this.#client);
  }
}
