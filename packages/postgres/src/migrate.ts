import { storeSchema } from '@ackord/core/store';
import type { SqlPool } from './client.ts';
import { Database, inSchema } from './database.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { STORE } from './name.ts';
import { checkSchemaName, DEFAULT_SCHEMA, resolveOptions } from './options.ts';
import {
  ADD_VERSION,
  CREATE_VERSION_TABLE,
  FIND_VERSION_TABLE,
  MIGRATION_LOCK,
  READ_VERSION,
} from './sql/schema.sql.ts';

export interface MigrateOptions {
  /** Default `ackord`. */
  readonly schema?: string;
  /** Longest wait, for another migration included. Default 60 000. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 60_000;

/** Version that this code needs. */
export const SCHEMA_VERSION: number = MIGRATIONS.length;

/**
 * Brings the tables up to date; returns the names of the migrations that were applied. Safe to
 * call from many processes at once; takes no lock and runs no DDL when the schema is current.
 */
export async function migrate(
  pool: SqlPool,
  options: MigrateOptions = {},
): Promise<readonly string[]> {
  const { schema, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const database = new Database(
    resolveOptions({
      pool,
      ...(schema !== undefined && { schema }),
      statementTimeoutMs: timeoutMs,
      // Plain statements: what follows depends on what the one before answered.
      pipeline: false,
    }),
  );
  if ((await readVersion(database)) >= SCHEMA_VERSION) return [];
  const connection = await database.connect();
  const limit = database.limit('Migrating');
  try {
    await connection.all(
      [
        { text: 'begin isolation level read committed' },
        database.sql(MIGRATION_LOCK, database.schema),
      ],
      limit,
    );
    await connection.all([plain(database, CREATE_VERSION_TABLE)], limit);
    const [row] = await connection.all([database.sql(READ_VERSION)], limit);
    const missing = MIGRATIONS.slice(Number(row?.rows[0]?.['version'] ?? 0));
    for (const { name, sql } of missing) {
      const version = MIGRATIONS.findIndex((m) => m.name === name) + 1;
      await connection.all([plain(database, sql), database.sql(ADD_VERSION, version, name)], limit);
    }
    await connection.all([{ text: 'commit' }], limit);
    connection.release();
    return missing.map((m) => m.name);
  } catch (error) {
    connection.destroy(error);
    throw error;
  }
}

/** The whole schema as one script, for those who apply SQL by their own means. */
export function migrationSql(options: { readonly schema?: string } = {}): string {
  const schema = options.schema ?? DEFAULT_SCHEMA;
  checkSchemaName(schema);
  const steps = MIGRATIONS.map(
    ({ name, sql }, at) =>
      `-- ${name}${sql}insert into {schema}.schema_version (version, name) values (${at + 1}, '${name}');\n`,
  );
  return inSchema(['begin;', CREATE_VERSION_TABLE, ...steps, 'commit;', ''].join('\n'), schema);
}

/** Prints `migrationSql` to standard output. */
export function printSql(options: { readonly schema?: string } = {}): void {
  process.stdout.write(migrationSql(options));
}

/** @throws MSG_STORE_SCHEMA the schema is missing or older than this code. A newer one is accepted. */
export async function checkSchema(database: Database, signal: AbortSignal): Promise<void> {
  const found = await readVersion(database, signal);
  if (found >= SCHEMA_VERSION) return;
  throw storeSchema({
    store: STORE,
    expected: `version ${SCHEMA_VERSION} of schema "${database.schema}"`,
    actual: found === 0 ? 'none' : `version ${found}`,
    fix: 'Run `await migrate(pool)` at deployment, or apply what migrationSql() gives.',
  });
}

/** 0: nothing was migrated. */
export async function readVersion(database: Database, signal?: AbortSignal): Promise<number> {
  const what = 'Reading the schema version';
  const table = `"${database.schema}".schema_version`;
  const { rows } = await database.run(database.sql(FIND_VERSION_TABLE, table), what, signal);
  if (rows[0]?.['found'] == null) return 0;
  const { rows: versions } = await database.run(database.sql(READ_VERSION), what, signal);
  return Number(versions[0]?.['version']);
}

/** Without values, several statements may stand in one text. */
function plain(database: Database, text: string): { readonly text: string } {
  return { text: database.sql(text).text };
}
