import { type Clock, systemClock } from '@ackord/core/driver';
import type { OutboxRow } from '@ackord/core/store';
import { MemoryStoreError } from './memory-store-error.ts';
import { RowLocks } from './row-locks.ts';
import { SlotLeases } from './slot-leases.ts';
import { emptyTables, type InboxRow, type StoredAttempt, type Tables } from './tables.ts';
import { Transaction } from './transaction.ts';

type CommitFault = 'before' | 'after' | 'refuse';

/**
 * The server behind in-memory stores: it outlives them, and stores that share one are processes on
 * the same database. Everything but the constructor is for tests.
 */
export class MemoryDatabase {
  readonly clock: Clock;
  /** @internal */
  readonly tables: Tables = emptyTables();
  /** @internal */
  readonly locks: RowLocks = new RowLocks();
  /** @internal */
  readonly slots: SlotLeases;
  readonly #open = new Set<Transaction>();
  readonly #killed = new WeakSet<object>();
  readonly #counts = new Map<string, number>();
  #commitFaults: CommitFault[] = [];
  #down = false;
  #seq = 0;

  constructor(options: { readonly clock?: Clock } = {}) {
    this.clock = options.clock ?? systemClock;
    this.slots = new SlotLeases(this.clock);
  }

  /** Unreachable until `up()`: open transactions are rolled back, every call rejects. */
  down(): void {
    this.#down = true;
    for (const transaction of [...this.#open]) transaction.break(unreachable());
  }

  up(): void {
    this.#down = false;
  }

  /** The answer to the next COMMIT is lost: `before` it took effect, or `after`. */
  loseNextCommit(when: 'before' | 'after'): void {
    this.#commitFaults.push(when);
  }

  /** The next COMMIT is answered with ROLLBACK. */
  refuseNextCommit(): void {
    this.#commitFaults.push('refuse');
  }

  /** Committed value of a key that handlers changed by `tx.effect`. */
  effect(key: string): unknown {
    return this.tables.effects.get(key);
  }

  /** How often a change of the key was committed. */
  effects(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  /** Committed values, by key. */
  allEffects(): ReadonlyMap<string, unknown> {
    return this.tables.effects;
  }

  inboxRows(): readonly InboxRow[] {
    return [...this.tables.inbox.values()];
  }

  attemptRows(): readonly StoredAttempt[] {
    return [...this.tables.attempts.values()];
  }

  /** In writing order, refused ones included. */
  outboxRows(): readonly OutboxRow[] {
    const rows = [...this.tables.outbox.values()].map(({ row }) => row);
    return rows.sort((a, b) => Number(a.seq) - Number(b.seq));
  }

  openTransactions(): number {
    return this.#open.size;
  }

  /** @internal Throws when the server cannot be reached by this client. */
  reach(client: object): void {
    if (this.#down || this.#killed.has(client)) throw unreachable();
  }

  /** @internal */
  begin(client: object, signal?: AbortSignal): Transaction {
    this.reach(client);
    const transaction = new Transaction(this, client, signal);
    this.#open.add(transaction);
    return transaction;
  }

  /** @internal */
  ended(transaction: Transaction): void {
    this.#open.delete(transaction);
  }

  /** @internal The client's process is gone. */
  kill(client: object): void {
    this.#killed.add(client);
    for (const transaction of [...this.#open]) {
      if (transaction.client === client) transaction.break(unreachable());
    }
  }

  /** @internal */
  takeCommitFault(): CommitFault | undefined {
    return this.#commitFaults.shift();
  }

  /** @internal Taken when a row is written, not when it is committed, like a sequence. */
  nextSeq(): string {
    return String(++this.#seq);
  }

  /** @internal */
  count(key: string): void {
    this.#counts.set(key, this.effects(key) + 1);
  }
}

function unreachable(): MemoryStoreError {
  return new MemoryStoreError('down', 'The in-memory database cannot be reached');
}
