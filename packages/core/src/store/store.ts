import type { Finding } from '../driver/driver.ts';
import type { InboxStore } from './inbox-store.ts';
import type { OutboxStore } from './outbox-store.ts';

/**
 * Port to the database that holds effects. `Tx` is what a handler gets to run its own statements
 * in the transaction of the Inbox.
 */
export interface Store<Tx = unknown> {
  /** For messages and the `broker` field of errors, for example `postgres`. */
  readonly name: string;
  readonly inbox: InboxStore<Tx>;
  readonly outbox: OutboxStore<Tx>;
  /**
   * Checks that the schema is current. Rejects with `MSG_STORE_SCHEMA` when it is not and with
   * the raw error when the database cannot be reached.
   */
  open(signal: AbortSignal): Promise<void>;
  /** What an error of the database means; undefined: not one of this store's errors. */
  classify(error: unknown): StoreFailure | undefined;
  doctor(): Promise<readonly Finding[]>;
  /** Frees what the store itself opened. The pool stays the user's. Idempotent. */
  close(): Promise<void>;
}

/**
 * `down`: the store itself could not be reached (or its outcome is unknown), so nothing can be
 * recorded there. `again`: deadlock or serialization failure, worth repeating at once. `transient`:
 * worth a retry by budget. `permanent`: the same input fails again.
 */
export type StoreFailure = 'down' | 'again' | 'transient' | 'permanent' | 'unknown';
