import type { AttemptRow, Claim, Claimed, InboxStore, SqlTx, UnitOfWork } from '@ackord/core/store';
import type { SqlResult, Statement } from './client.ts';
import type { Database } from './database.ts';
import { compareClaims } from './record-failures.ts';
import {
  CLAIM,
  ENSURE_VERSIONS,
  LOCK_VERSIONS,
  PURGE_ATTEMPTS,
  PURGE_INBOX,
  READ_ATTEMPTS,
  SAVEPOINT,
} from './sql/inbox.sql.ts';
import { PostgresUnit } from './unit-of-work.ts';

/** Rows per statement of a purge: short locks, little work lost when it is stopped. */
const PURGE_BATCH = 500;

type PurgeOptions = Parameters<InboxStore<SqlTx>['purge']>[0];

export class PostgresInbox implements InboxStore<SqlTx> {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async begin(claims: readonly Claim[], signal: AbortSignal): Promise<UnitOfWork<SqlTx>> {
    const database = this.#database;
    const guarded = claims.some((claim) => claim.guarded);
    const connection = await database.connect(signal);
    const limit = { what: 'Claiming messages', ms: database.timeoutMs, signal };
    let results: readonly SqlResult[];
    try {
      results = await connection.all(firstStatements(database, claims, guarded), limit);
    } catch (error) {
      // Closing the connection undoes whatever had happened.
      connection.destroy(error);
      throw error;
    }
    const claimed = readClaimed(claims, results);
    return new PostgresUnit({ database, connection, claims, claimed, guarded, signal });
  }

  async purge(options: PurgeOptions): Promise<number> {
    const purged = await this.#purge(PURGE_INBOX, options);
    await this.#purge(PURGE_ATTEMPTS, options);
    return purged;
  }

  async #purge(text: string, { consumer, olderThanMs, signal }: PurgeOptions): Promise<number> {
    const statement = this.#database.sql(text, consumer, olderThanMs, PURGE_BATCH);
    let total = 0;
    let count: number;
    do {
      count = (await this.#database.run(statement, 'Purging', signal)).rowCount ?? 0;
      total += count;
    } while (count === PURGE_BATCH);
    return total;
  }
}

function firstStatements(
  database: Database,
  claims: readonly Claim[],
  guarded: boolean,
): readonly Statement[] {
  const sorted = [...claims].sort(compareClaims);
  const ids = [sorted.map((c) => c.consumer), sorted.map((c) => c.messageId)] as const;
  const versioned = sorted.flatMap(({ consumer, aggregate }) =>
    aggregate ? [[consumer, aggregate.type, aggregate.id] as const] : [],
  );
  const keys = [0, 1, 2].map((column) => versioned.map((key) => key[column]));
  return [
    { text: database.begin },
    database.sql(CLAIM, ...ids),
    database.sql(READ_ATTEMPTS, ...ids),
    ...(guarded ? [{ text: SAVEPOINT }] : []),
    ...(versioned.length > 0
      ? [database.sql(ENSURE_VERSIONS, ...keys), database.sql(LOCK_VERSIONS, ...keys)]
      : []),
  ];
}

function readClaimed(claims: readonly Claim[], results: readonly SqlResult[]): readonly Claimed[] {
  const fresh = new Set((results[1]?.rows ?? []).map(claimKey));
  const attempts = new Map((results[2]?.rows ?? []).map((row) => [claimKey(row), attemptRow(row)]));
  const versions = new Map(
    (claims.some((claim) => claim.aggregate) ? (results.at(-1)?.rows ?? []) : []).map((row) => [
      versionKey(row['consumer_name'], row['aggregate_type'], row['aggregate_id']),
      row['version'],
    ]),
  );
  return claims.map(({ consumer, messageId, aggregate }) => {
    const key = JSON.stringify([consumer, messageId]);
    const row = attempts.get(key);
    const version = aggregate && versions.get(versionKey(consumer, aggregate.type, aggregate.id));
    return {
      // A message that came twice in one batch is fresh once.
      fresh: fresh.delete(key),
      ...(row && { attempts: row }),
      ...(typeof version === 'number' && { lastVersion: version }),
    };
  });
}

function claimKey(row: Record<string, unknown>): string {
  return JSON.stringify([row['consumer_name'], row['message_id']]);
}

function versionKey(consumer: unknown, type: unknown, id: unknown): string {
  return JSON.stringify([consumer, type, id]);
}

function attemptRow(row: Record<string, unknown>): AttemptRow {
  const due = row['due_ms'];
  const type = row['error_type'];
  const text = row['error_text'];
  return {
    attempts: Number(row['attempts']),
    unknowns: Number(row['unknowns']),
    firstFailedAtMs: Number(row['first_failed_ms']),
    lastFailedAtMs: Number(row['last_failed_ms']),
    ...(due !== null && due !== undefined && { dueAtMs: Number(due) }),
    redriveCount: Number(row['redrive_count']),
    totalAttempts: Number(row['total_attempts']),
    ...(typeof type === 'string' && { errorType: type }),
    ...(typeof text === 'string' && { errorText: text }),
  };
}
