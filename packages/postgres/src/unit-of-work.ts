import type {
  AttemptFailure,
  Claim,
  Claimed,
  CommitWork,
  SqlTx,
  UnitOfWork,
} from '@ackord/core/store';
import { storeCommitRefused, storeCommitUnknown } from '@ackord/core/store';
import type { Answer } from './batch.ts';
import type { Limit } from './bounded.ts';
import { isConnectionLoss } from './classify-error.ts';
import type { Statement } from './client.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { HandlerTx } from './handler-tx.ts';
import { lastStatements } from './last-statements.ts';
import { STORE } from './name.ts';
import { outboxError } from './outbox-insert.ts';
import { recordFailures } from './record-failures.ts';
import { COMMIT, DELETE_CLAIMS, ROLLBACK, ROLLBACK_TO_SAVEPOINT } from './sql/inbox.sql.ts';

export interface OpenUnit {
  readonly database: Database;
  readonly connection: Connection;
  readonly claims: readonly Claim[];
  readonly claimed: readonly Claimed[];
  /** A savepoint stands right behind the claims. */
  readonly guarded: boolean;
  readonly signal: AbortSignal;
}

/** How long claims are held for a record that is stored over another connection. */
const RECORD_FIRST_MS = 1_000;

/** One open transaction with its claims, on one connection that it gives back at the end. */
export class PostgresUnit implements UnitOfWork<SqlTx> {
  readonly claimed: readonly Claimed[];
  readonly #unit: OpenUnit;
  readonly #tx: HandlerTx;
  #open = true;

  constructor(unit: OpenUnit) {
    this.#unit = unit;
    this.claimed = unit.claimed;
    this.#tx = new HandlerTx(unit.connection, unit.signal);
  }

  get tx(): SqlTx {
    return this.#tx;
  }

  async commit(work: CommitWork): Promise<void> {
    const { database, connection } = this.#unit;
    this.#open = false;
    this.#tx.end();
    try {
      if (this.#tx.busy) await this.#tx.idle(this.#limit('COMMIT'));
      // Otherwise a handler that swallowed the refusal would have half of its work stored.
      if (this.#tx.incomplete) throw this.#tx.incomplete;
      // COMMIT was never sent, so the outcome is known.
      if (connection.lost) throw connection.lost;
    } catch (error) {
      connection.destroy(error);
      throw error;
    }
    const statements = lastStatements(database, this.#unit, work);
    const commitAt = statements.push(database.sql(COMMIT)) - 1;
    let answers: readonly Answer[];
    try {
      answers = await connection.batch(statements, this.#limit('COMMIT'));
    } catch (error) {
      throw this.#raise(storeCommitUnknown({ store: STORE, cause: error }));
    }
    await this.#judge(answers, commitAt, work);
  }

  async fail(failures: readonly (AttemptFailure | undefined)[]): Promise<void> {
    const { database, connection, claims } = this.#unit;
    const record = recordFailures(database, claims, failures);
    const wasOpen = this.#open;
    this.#open = false;
    this.#tx.stop();
    if (!wasOpen || connection.unusable || !(await this.#tx.settles())) {
      return this.#failApart(record);
    }
    try {
      await connection.all(this.#undo(record), this.#limit('Recording a failure'));
      connection.release();
    } catch (error) {
      connection.destroy(error);
      throw error;
    }
  }

  async rollback(): Promise<void> {
    if (!this.#open) return;
    const { database, connection } = this.#unit;
    this.#open = false;
    this.#tx.stop();
    try {
      if (!connection.unusable && (await this.#tx.settles())) {
        await connection.all([database.sql(ROLLBACK)], this.#limit('ROLLBACK'));
        connection.release();
      } else {
        connection.destroy(
          new Error('A statement was still running at the end of its transaction.'),
        );
      }
    } catch (error) {
      // The server rolls back by itself when the connection is gone.
      connection.destroy(error);
    }
  }

  /**
   * For a transaction that cannot be used any more: the record is stored before the claims are let go.
   * A pool without a free connection may wait for the very one that is held here, so not for long.
   */
  async #failApart(record: readonly Statement[]): Promise<void> {
    const { database, connection } = this.#unit;
    const letGo = (): void =>
      connection.destroy(new Error('The transaction could not be used any more.'));
    const timer = setTimeout(letGo, RECORD_FIRST_MS);
    try {
      for (const statement of record) await database.run(statement, 'Recording a failure');
    } finally {
      clearTimeout(timer);
      letGo();
    }
  }

  #undo(record: readonly Statement[]): readonly Statement[] {
    const { database, guarded } = this.#unit;
    if (!guarded) return [database.sql(ROLLBACK), ...record];
    const fresh = this.#fresh();
    return [
      database.sql(ROLLBACK_TO_SAVEPOINT),
      database.sql(
        DELETE_CLAIMS,
        fresh.map((c) => c.consumer),
        fresh.map((c) => c.messageId),
      ),
      ...record,
      database.sql(COMMIT),
    ];
  }

  #fresh(): readonly Claim[] {
    return this.#unit.claims.filter((_, at) => this.claimed[at]?.fresh);
  }

  /** What the answers to the last statements and COMMIT (at `commitAt`) mean. */
  async #judge(
    answers: readonly Answer[],
    commitAt: number,
    { outbox }: CommitWork,
  ): Promise<void> {
    const { connection } = this.#unit;
    const failed = answers.find((answer) => answer.status === 'rejected');
    const commit = answers[commitAt];
    if (failed === undefined && commit?.status === 'fulfilled') {
      connection.release();
      const tag = commit.value.command ?? 'no tag';
      if (tag !== 'COMMIT') throw this.#raise(storeCommitRefused({ store: STORE, answer: tag }));
      return;
    }
    const error = failed?.reason as unknown;
    if (!isConnectionLoss(error)) {
      // An error of the server before COMMIT (or of COMMIT itself) undid everything.
      if (commit === undefined) await this.#rollBack();
      else connection.release();
      throw outboxError(error, outbox);
    }
    connection.destroy(error);
    // Not sent: surely nothing was stored.
    throw commit === undefined
      ? error
      : this.#raise(storeCommitUnknown({ store: STORE, cause: error }));
  }

  async #rollBack(): Promise<void> {
    const { database, connection } = this.#unit;
    try {
      await connection.all([database.sql(ROLLBACK)], this.#limit('ROLLBACK'));
      connection.release();
    } catch (error) {
      // The error that led here is the one to report.
      connection.destroy(error);
    }
  }

  #raise(error: Error): Error {
    this.#unit.database.mark(error);
    return error;
  }

  #limit(what: string): Limit {
    return this.#unit.database.limit(what);
  }
}
