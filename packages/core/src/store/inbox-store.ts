import type { OutboxMessage } from './outbox-store.ts';

/** Inbox, attempt rows and aggregate versions of consumers. */
export interface InboxStore<Tx> {
  /**
   * Opens one transaction and claims the messages in it, with one wait on the database: BEGIN, the
   * Inbox insert (`on conflict do nothing`), the attempt rows and, for claims with an `aggregate`,
   * the locked version row. A second claimer of the same message waits for the first transaction.
   * Rejects with the raw error; nothing stays open then.
   */
  begin(claims: readonly Claim[], signal: AbortSignal): Promise<UnitOfWork<Tx>>;
  /**
   * Deletes Inbox rows of a consumer older than `olderThanMs` in small batches; returns how many.
   * Ids with an open parked record stay.
   */
  purge(options: {
    readonly consumer: string;
    readonly olderThanMs: number;
    readonly signal: AbortSignal;
  }): Promise<number>;
}

export interface Claim {
  readonly consumer: string;
  readonly messageId: string;
  /** Given under an ordering policy: the version row of (consumer, aggregate) is read and locked. */
  readonly aggregate?: { readonly type: string; readonly id: string };
  /**
   * Another copy of this message may exist (a retry, or a redelivery): recording a failure must
   * not let the other one start before the attempt is counted.
   */
  readonly guarded: boolean;
}

export interface Claimed {
  /** False: an Inbox row exists already, the message is a duplicate. */
  readonly fresh: boolean;
  readonly attempts?: AttemptRow;
  /** Highest version applied for the claim's aggregate. */
  readonly lastVersion?: number;
}

/** Failures of one (consumer, message id) so far. Instants are milliseconds since the epoch. */
export interface AttemptRow {
  /** Runs that failed in this budget. */
  readonly attempts: number;
  /** Those of class `unknown` among them. */
  readonly unknowns: number;
  readonly firstFailedAtMs: number;
  readonly lastFailedAtMs: number;
  /** Not before this time; absent after a decision to park. */
  readonly dueAtMs?: number;
  /** Raised by each redrive, which starts a new budget. */
  readonly redriveCount: number;
  readonly totalAttempts: number;
  /** Of the last failure. */
  readonly errorType?: string;
  readonly errorText?: string;
}

/** One open transaction with its claims. Exactly one of `commit`, `fail`, `rollback` ends it. */
export interface UnitOfWork<Tx> {
  /** For the handler. Every call rejects once the unit has ended, and when `begin`'s signal has aborted. */
  readonly tx: Tx;
  readonly claimed: readonly Claimed[];
  /**
   * Outcomes (in the order of the claims), versions and outbox rows, then COMMIT, with one wait.
   * Attempt rows of the claims are removed. Rejects with `MSG_STORE_COMMIT_REFUSED` when the
   * database answered ROLLBACK (a swallowed SQL error), with `MSG_STORE_COMMIT_UNKNOWN` when no
   * answer came: the Inbox row decides at the redelivery.
   */
  commit(work: CommitWork): Promise<void>;
  /**
   * Undoes everything, claims included, and records one failure per claim (undefined: none).
   * Guarded claims are released only together with the record. Rejects with the raw error.
   */
  fail(failures: readonly (AttemptFailure | undefined)[]): Promise<void>;
  /** Undoes everything. Never rejects; a connection that does not answer is thrown away. */
  rollback(): Promise<void>;
}

export interface CommitWork {
  readonly outcomes: readonly ClaimOutcome[];
  readonly outbox: readonly OutboxMessage[];
}

export interface ClaimOutcome {
  /** `duplicate`: leave the existing row as it is. */
  readonly outcome: 'applied' | 'stale' | 'expired' | 'rejected' | 'duplicate';
  /** New highest version of the claim's aggregate. */
  readonly version?: number;
}

export interface AttemptFailure {
  /** Number of the run that failed; the row becomes the larger of it and its own count + 1. */
  readonly attempt: number;
  readonly unknown: boolean;
  /** Redrive cycle of the message; larger than the row's `redriveCount`: the counts start anew. */
  readonly cycle: number;
  readonly atMs: number;
  readonly dueAtMs?: number;
  readonly errorType?: string;
  /** At most 512 characters. */
  readonly errorText?: string;
}
