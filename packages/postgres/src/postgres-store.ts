import type { SqlTx, Store } from '@ackord/core/store';
import { classifyError } from './classify-error.ts';
import { Database } from './database.ts';
import { inspect } from './doctor.ts';
import { checkSchema } from './migrate.ts';
import { STORE } from './name.ts';
import { type PostgresOptions, resolveOptions } from './options.ts';
import { PostgresInbox } from './postgres-inbox.ts';
import { PostgresOutbox } from './postgres-outbox.ts';

/** A store over PostgreSQL. Beyond the port, its outbox can retry what a broker refused. */
export interface PostgresStore extends Store<SqlTx> {
  readonly outbox: PostgresOutbox;
}

/**
 * Inbox, attempts, versions and outbox in PostgreSQL. Needs the tables of `migrate(pool)`.
 *
 * @throws MSG_CONFIG_INVALID an option is unknown or out of range.
 */
export function postgres(options: PostgresOptions): PostgresStore {
  const resolved = resolveOptions(options);
  const { pool } = resolved;
  const database = new Database(resolved);
  // A pool without a listener ends the process when an idle connection breaks; the next use reports it.
  const ignore = (): void => undefined;
  pool.on?.('error', ignore);
  return {
    name: STORE,
    inbox: new PostgresInbox(database),
    outbox: new PostgresOutbox(database),
    open: async (signal) => {
      await checkSchema(database, signal);
      await database.tune(signal);
    },
    classify: (error) => classifyError(error, (link) => database.raised(link)),
    doctor: () => inspect(database),
    close: async () => {
      pool.removeListener?.('error', ignore);
    },
  };
}
