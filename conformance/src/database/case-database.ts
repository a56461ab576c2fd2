import type { SqlTx } from '@ackord/core/store';
import { migrate, type SqlPool } from '@ackord/postgres';

/** The database of one case: a schema of its own. */
export interface CaseDatabase {
  readonly schema: string;
  /** For worker processes; absent where the database lives in this one. */
  readonly url?: string;
  /** Connections as one process has them. */
  process(): DatabaseProcess;
  /** One statement beside everything under test; `{schema}` names the schema. */
  sql<R = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<R[]>;
  /** The server is gone for every process; for cases with `needs: ['database']`. */
  stop(): Promise<void>;
  /** Resolves once it answers again. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseProcess {
  readonly pool: SqlPool;
  /** Breaks its connections as the death of the process would, and gives no other. */
  kill(): void;
  end(): Promise<void>;
}

export interface Databases {
  /** May wait until a database is free. */
  open(schema: string): Promise<CaseDatabase>;
  close(): Promise<void>;
}

/**
 * No unique key on effects, so that a double shows; `seq` is the order of their inserts. `orders` is
 * business data that producers write beside their outbox rows.
 */
const TABLES = `
create table {schema}.effects (
  seq bigint generated always as identity,
  consumer text not null, message_id text not null, attempt int not null,
  sku text not null, count int not null,
  aggregate_id text, aggregate_version bigint,
  at timestamptz not null default clock_timestamp());
create table {schema}.stock (sku text primary key, reserved int not null);
create table {schema}.orders (id text not null);`;

/** Tables of the library and of the cases. */
export async function prepare(pool: SqlPool, schema: string): Promise<void> {
  await migrate(pool, { schema });
  await statement(pool, inSchema(TABLES, schema));
}

export async function statement<R>(
  pool: SqlPool,
  text: string,
  values?: readonly unknown[],
): Promise<R[]> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query(text, values && [...values]);
    client.release();
    return rows as R[];
  } catch (error) {
    client.release(error as Error);
    throw error;
  }
}

export function inSchema(text: string, schema: string): string {
  return text.replaceAll('{schema}', `"${schema}"`);
}

/** Runs `work` in a transaction; resolves after COMMIT, rejects after ROLLBACK. */
export async function transaction<T>(pool: SqlPool, work: (tx: SqlTx) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  const tx = {
    query: (text: string, params?: readonly unknown[]) =>
      client.query(text, params && [...params]) as never,
  };
  try {
    await client.query('begin');
    const result = await work(tx);
    const { command } = await client.query('commit');
    if (command !== 'COMMIT') throw new Error(`COMMIT was answered with ${command}`);
    client.release();
    return result;
  } catch (error) {
    client.release(error as Error);
    throw error;
  }
}
