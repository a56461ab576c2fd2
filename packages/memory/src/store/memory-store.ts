import type { Clock } from '@ackord/core/driver';
import type { Store } from '@ackord/core/store';
import { MemoryDatabase } from './memory-database.ts';
import { MemoryInbox } from './memory-inbox.ts';
import { MemoryOutbox } from './memory-outbox.ts';
import { classifyStoreError, STORE } from './memory-store-error.ts';
import { MemoryTx } from './memory-tx.ts';

export interface MemoryStoreOptions {
  /** The database to connect to; several stores on one are several processes. Default: a new one. */
  readonly database?: MemoryDatabase;
  /** Of a new database. Default: the system's clock. */
  readonly clock?: Clock;
}

export interface MemoryStore extends Store<MemoryTx> {
  readonly database: MemoryDatabase;
  readonly outbox: MemoryOutbox;
  /** A transaction of the application: commits what `run` did, or rolls back when it throws. */
  transaction<T>(run: (tx: MemoryTx) => Promise<T>): Promise<T>;
  /** For tests: the process is gone. Open transactions roll back, every later call rejects. */
  kill(): void;
}

/** Inbox, attempts, versions and outbox in this process, with transactions and row locks. */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { clock } = options;
  const database = options.database ?? new MemoryDatabase(clock ? { clock } : {});
  const client = {};
  return {
    name: STORE,
    database,
    inbox: new MemoryInbox(database, client),
    outbox: new MemoryOutbox(database, client),
    async open(signal) {
      signal.throwIfAborted();
      database.reach(client);
    },
    classify: classifyStoreError,
    doctor: async () => [
      { code: 'memory.not-durable', message: 'Inbox and outbox live in this process only.' },
    ],
    close: async () => undefined,
    async transaction(run) {
      const transaction = database.begin(client);
      try {
        const result = await run(new MemoryTx(transaction));
        await transaction.idle();
        transaction.commit();
        return result;
      } catch (error) {
        transaction.rollback();
        throw error;
      }
    },
    kill: () => database.kill(client),
  };
}
