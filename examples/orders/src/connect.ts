import { type PglitePool, pglitePool } from '@ackord/postgres';
import { PGlite } from '@electric-sql/pglite';
import { Pool } from 'pg';

/** PostgreSQL at a URL. */
export function openPostgres(url: string): Pool {
  return new Pool({ connectionString: url, connectionTimeoutMillis: 5_000 });
}

/** PostgreSQL inside this process, gone with it. */
export async function openPglite(): Promise<PglitePool> {
  return pglitePool(await PGlite.create());
}
