export type { SqlTx } from '@ackord/core/store';
export type { SqlClient, SqlPool, SqlResult } from './client.ts';
export { hashSlot } from './hash-slot.ts';
export { type MigrateOptions, migrate, migrationSql, printSql } from './migrate.ts';
export type { PostgresOptions } from './options.ts';
export { type PgliteLike, type PglitePool, pglitePool } from './pglite-pool.ts';
export type { PostgresOutbox } from './postgres-outbox.ts';
export { type PostgresStore, postgres } from './postgres-store.ts';
