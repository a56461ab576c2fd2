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
  SqlTx,
} from '@ackord/core/store';
import type { Database } from './database.ts';
import { insertStatements, outboxError } from './outbox-insert.ts';
import { ANNOUNCE, LEASE, RELEASE_SLOTS } from './sql/lease.sql.ts';
import { DEPTH, FETCH, NEXT_VERSION, REFUSE, REMOVE, RETRY_REFUSED } from './sql/outbox.sql.ts';

/** Rows read per slot, as a multiple of an even share of the limit. */
const SPREAD = 4;

export class PostgresOutbox implements OutboxStore<SqlTx> {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async add(tx: SqlTx, messages: readonly OutboxMessage[]): Promise<void> {
    for (const { text, values } of insertStatements(this.#database, messages)) {
      try {
        await tx.query(text, values);
      } catch (error) {
        throw outboxError(error, messages);
      }
    }
  }

  async nextVersion(
    tx: SqlTx,
    of: { readonly destination: string; readonly type: string; readonly id: string },
  ): Promise<number> {
    const { text, values } = this.#database.sql(NEXT_VERSION, of.destination, of.type, of.id);
    const { rows } = await tx.query<{ readonly version: number }>(text, values);
    return Number(rows[0]?.version);
  }

  async lease({ owner, ttlMs, busy, signal }: LeaseRequest): Promise<readonly SlotLease[]> {
    const database = this.#database;
    const connection = await database.connect(signal);
    const limit = database.limit('Leasing outbox slots', signal);
    try {
      // Two statements, each a transaction of its own: the second one must see the first.
      await connection.one(database.sql(ANNOUNCE, owner, owner, ttlMs), limit);
      const { rows } = await connection.one(database.sql(LEASE, owner, ttlMs, busy), limit);
      return rows.map((row) => ({
        slot: Number(row['slot']),
        epoch: Number(row['epoch']),
      }));
    } finally {
      connection.release();
    }
  }

  async release(owner: string): Promise<void> {
    const database = this.#database;
    await database.run(database.sql(RELEASE_SLOTS, owner, owner), 'Releasing outbox slots');
  }

  async fetch(query: OutboxQuery): Promise<readonly OutboxRow[]> {
    const { leases, brokers, limit } = query;
    if (leases.length === 0 || brokers.length === 0 || limit < 1) return [];
    // With a backlog everywhere a few of each slot are enough, and reading `limit` of each would
    // cost ten times as much.
    const few = Math.ceil((limit * SPREAD) / leases.length);
    const rows = await this.#fetch(query, Math.min(few, limit));
    const cut = few < limit && rows.length < limit && mostOfOneSlot(rows) >= few;
    return cut ? this.#fetch(query, limit) : rows;
  }

  async #fetch(query: OutboxQuery, perSlot: number): Promise<readonly OutboxRow[]> {
    const { leases, brokers, limit, except, signal } = query;
    const statement = this.#database.sql(
      FETCH,
      leases.map((l) => l.slot),
      leases.map((l) => l.epoch),
      brokers,
      except,
      perSlot,
      limit,
    );
    const { rows } = await this.#database.run(statement, 'Fetching outbox rows', signal);
    return rows.map(outboxRow);
  }

  async remove(rows: readonly FencedRow[], signal: AbortSignal): Promise<readonly string[]> {
    if (rows.length === 0) return [];
    const statement = this.#database.sql(
      REMOVE,
      rows.map((r) => r.seq),
      rows.map((r) => r.slot),
      rows.map((r) => r.epoch),
    );
    const result = await this.#database.run(statement, 'Removing outbox rows', signal);
    return result.rows.map((row) => String(row['seq']));
  }

  async refuse(row: FencedRow, reason: RefusedReason, signal: AbortSignal): Promise<boolean> {
    const { kind, text, blocks } = reason;
    const statement = this.#database.sql(REFUSE, kind, text, blocks, row.seq, row.slot, row.epoch);
    const { rows } = await this.#database.run(statement, 'Refusing an outbox row', signal);
    return rows.length > 0;
  }

  /**
   * Makes refused rows ready again, under their ids and at their places in the order; returns how
   * many. Without `ids`: all of them.
   */
  async retryRefused(options: { readonly ids?: readonly string[] } = {}): Promise<number> {
    const statement = this.#database.sql(RETRY_REFUSED, options.ids ?? null);
    return (await this.#database.run(statement, 'Retrying refused outbox rows')).rows.length;
  }

  async depth(signal: AbortSignal): Promise<OutboxDepth> {
    const { rows } = await this.#database.run(
      this.#database.sql(DEPTH),
      'Counting outbox rows',
      signal,
    );
    const oldest = rows[0]?.['oldest_ms'];
    return {
      ready: Number(rows[0]?.['ready']),
      refused: Number(rows[0]?.['refused']),
      ...(oldest !== null && oldest !== undefined && { oldestAtMs: Number(oldest) }),
    };
  }
}

function mostOfOneSlot(rows: readonly OutboxRow[]): number {
  const counts = new Map<string, number>();
  for (const { broker, slot } of rows) {
    const key = `${slot} ${broker}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}

function outboxRow(row: Record<string, unknown>): OutboxRow {
  const {
    lane_key: key,
    correlation_id: correlation,
    occurred_ms: occurred,
  } = row as {
    lane_key: string | null;
    correlation_id: string | null;
    occurred_ms: number | null;
  };
  return {
    messageId: String(row['message_id']),
    broker: String(row['broker']),
    target: String(row['target']),
    destination: String(row['destination']),
    type: String(row['message_type']),
    ...(key !== null && { key }),
    dedupId: String(row['dedup_id']),
    contentType: String(row['content_type']),
    ...(correlation !== null && { correlationId: correlation }),
    ...(occurred !== null && { occurredAtMs: Number(occurred) }),
    headers: JSON.parse(String(row['headers'])) as Record<string, string>,
    body: row['body'] as Uint8Array,
    seq: String(row['seq']),
    slot: Number(row['slot']),
    createdAtMs: Number(row['created_ms']),
  };
}
