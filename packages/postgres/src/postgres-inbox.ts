import type { AttemptRow, Claim, Claimed, InboxStore, SqlTx, UnitOfWork } from '@ackord/core/store';
import type { SqlResult, Statement } from './client.ts';
import type { Database } from './database.ts';
import { compareClaims } from './record-failures.ts';
import {
  ATTEMPT_COLUMNS,
  CLAIM,
  CLAIM_COLUMNS,
  CLAIM_ONE,
  ENSURE_VERSIONS,
  LOCK_VERSIONS,
  PURGE_ATTEMPTS,
  PURGE_INBOX,
  READ_ATTEMPTS,
  READ_ATTEMPTS_ONE,
  SAVEPOINT,
  VERSION_COLUMNS,
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
    const guarded = claims.some(isGuarded);
    const connection = await database.connect(signal);
    const limit = database.limit('Claiming messages', signal);
    const sorted = claims.length === 1 ? claims : [...claims].sort(compareClaims);
    const first = firstStatements(database, sorted, guarded);
    let results: readonly SqlResult[];
    try {
      results = await connection.all(first, limit);
    } catch (error) {
      // Closing the connection undoes whatever had happened.
      connection.destroy(error);
      throw error;
    }
    const claimed = readClaimed(claims, results.slice(database.begin.length));
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
  const statements = database.begin.slice();
  claimStatements(database, claims, statements);
  if (guarded) statements.push(database.sql(SAVEPOINT));
  if (!claims.some(isVersioned)) return statements;
  const versioned = claims.flatMap(({ consumer, aggregate }) =>
    aggregate ? [[consumer, aggregate.type, aggregate.id] as const] : [],
  );
  const keys = [0, 1, 2].map((column) => versioned.map((key) => key[column]));
  statements.push(database.sql(ENSURE_VERSIONS, ...keys));
  statements.push(database.rows(VERSION_COLUMNS, LOCK_VERSIONS, ...keys));
  return statements;
}

const isGuarded = ({ guarded }: Claim): boolean => guarded;
const isVersioned = ({ aggregate }: Claim): boolean => aggregate !== undefined;

function claimStatements(database: Database, claims: readonly Claim[], into: Statement[]): void {
  const [first] = claims;
  if (first !== undefined && claims.length === 1) {
    const { consumer, messageId } = first;
    into.push(database.sql(CLAIM_ONE, consumer, messageId));
    into.push(database.rows(ATTEMPT_COLUMNS, READ_ATTEMPTS_ONE, consumer, messageId));
    return;
  }
  const ids = [claims.map((c) => c.consumer), claims.map((c) => c.messageId)] as const;
  into.push(database.rows(CLAIM_COLUMNS, CLAIM, ...ids));
  into.push(database.rows(ATTEMPT_COLUMNS, READ_ATTEMPTS, ...ids));
}

/** @param results - From the claim on. */
function readClaimed(claims: readonly Claim[], results: readonly SqlResult[]): readonly Claimed[] {
  const attempts = results[1]?.rows ?? [];
  const versions = claims.some(isVersioned) ? (results.at(-1)?.rows ?? []) : [];
  const fresh = freshKeys(claims, results[0]);
  // Nearly always there are neither, and a key costs more than the look at an empty list.
  const failed = mapOf(attempts, claimKey, attemptRow);
  const last = mapOf(versions, versionKeyIn, (row) => row['version']);
  return claims.map((claim) => {
    const key = keyOf(claim);
    const row = failed?.get(key);
    const version = last?.get(versionKeyOf(claim)) ?? undefined;
    return {
      // A message that came twice in one batch is fresh once.
      fresh: fresh.delete(key),
      ...(row && { attempts: row }),
      ...(version !== undefined && { lastVersion: Number(version) }),
    };
  });
}

function mapOf<T>(
  rows: readonly Record<string, unknown>[],
  key: (row: Record<string, unknown>) => string,
  value: (row: Record<string, unknown>) => T,
): ReadonlyMap<string, T> | undefined {
  return rows.length === 0 ? undefined : new Map(rows.map((row) => [key(row), value(row)]));
}

/** Claims that were inserted. That of one message returns no row, only a count. */
function freshKeys(claims: readonly Claim[], claim: SqlResult | undefined): Set<string> {
  if (claims.length > 1) return new Set((claim?.rows ?? []).map(claimKey));
  return new Set(claim?.rowCount === 1 ? claims.map(keyOf) : []);
}

/** The length keeps two names apart that meet in the middle. */
const pairKey = (consumer: unknown, messageId: unknown): string =>
  `${String(consumer).length}:${consumer}:${messageId}`;

const keyOf = ({ consumer, messageId }: Claim): string => pairKey(consumer, messageId);

function claimKey(row: Record<string, unknown>): string {
  return pairKey(row['consumer_name'], row['message_id']);
}

const versionKeyOf = ({ consumer, aggregate }: Claim): string =>
  JSON.stringify([consumer, aggregate?.type, aggregate?.id]);

function versionKeyIn(row: Record<string, unknown>): string {
  return JSON.stringify([row['consumer_name'], row['aggregate_type'], row['aggregate_id']]);
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
