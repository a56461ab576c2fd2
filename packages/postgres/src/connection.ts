import { type Answer, Batch } from './batch.ts';
import { asError, bounded, type Limit } from './bounded.ts';
import { isConnectionLoss } from './classify-error.ts';
import type { SqlClient, SqlResult, Statement } from './client.ts';
import type { Frames } from './frames.ts';

/** What batches of one connection need. */
export interface Wire {
  readonly frames: Frames;
  /** Names of the statements that the connection has prepared. */
  readonly prepared: Set<string>;
}

/** One checked-out client. Given back exactly once: clean by `release`, else by `destroy`. */
export class Connection {
  readonly #client: SqlClient;
  readonly #wire: Wire | undefined;
  readonly #mark: (error: unknown) => void;
  #lost: Error | undefined;
  #given = false;

  /** @param wire - Undefined: nothing is sent together. */
  constructor(client: SqlClient, wire: Wire | undefined, mark: (error: unknown) => void) {
    this.#client = client;
    this.#wire = wire;
    this.#mark = mark;
    client.on?.('error', this.#onLost);
  }

  /** True once the connection broke or was given back. */
  get unusable(): boolean {
    return this.#given || this.#lost !== undefined;
  }

  /** Why it broke, once that is known. */
  get lost(): Error | undefined {
    return this.#lost;
  }

  /** One statement. Not bounded in time: for the user's own statements. */
  async query(text: string, values?: readonly unknown[]): Promise<SqlResult> {
    try {
      if (this.#lost) throw this.#lost;
      return await this.#client.query(text, values && [...values]);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** One statement of the library, with values as pg reads them. Bounded like a batch. */
  one(statement: Statement, limit: Limit): Promise<SqlResult> {
    const { text, values, name } = statement;
    const named = name !== undefined && this.#wire !== undefined;
    return this.#bounded(limit, (resolve, reject) => {
      const work = named ? this.#named(statement) : this.query(text, values);
      work.then(resolve, reject);
    });
  }

  /**
   * Sends all with one wait where the client can, else one after the other. The first error is the
   * last answer, unless the connection broke: then all that were sent are answered. Rejects only
   * when the limit is reached; the connection is destroyed then.
   */
  batch(statements: readonly Statement[], limit: Limit): Promise<readonly Answer[]> {
    const wire = this.#wire;
    return this.#bounded(limit, (resolve, reject) => {
      if (wire !== undefined) this.#together(statements, wire, resolve);
      else this.#inTurn(statements).then(resolve, reject);
    });
  }

  #bounded<T>(
    limit: Limit,
    start: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
  ): Promise<T> {
    return bounded(start, limit, (error) => {
      this.#mark(error);
      this.destroy(error);
    });
  }

  /** Like `batch`, but rejects with the first error. */
  async all(statements: readonly Statement[], limit: Limit): Promise<readonly SqlResult[]> {
    return (await this.batch(statements, limit)).map((answer) => {
      if (answer.status === 'rejected') throw answer.reason;
      return answer.value;
    });
  }

  release(): void {
    if (this.#lost) this.destroy(this.#lost);
    else this.#give();
  }

  /** Closes the socket, also under a running statement, whose promise rejects then. */
  destroy(error: unknown): void {
    this.#give(asError(error));
  }

  #give(error?: Error): void {
    if (this.#given) return;
    this.#given = true;
    // In pipeline mode `end()` would wait for the answers instead of closing the socket.
    if (error && this.#client.pipeline) this.#client.pipeline = false;
    this.#client.release(error);
    this.#client.removeListener?.('error', this.#onLost);
  }

  async #named(statement: Statement): Promise<SqlResult> {
    try {
      if (this.#lost) throw this.#lost;
      return await (this.#client as unknown as BatchClient).query(statement);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  #together(
    statements: readonly Statement[],
    wire: Wire,
    done: (answers: readonly Answer[]) => void,
  ): void {
    const lost = this.#lost;
    if (lost) {
      const reason = this.#failed(lost);
      done(statements.map(() => ({ status: 'rejected', reason })));
      return;
    }
    const client = this.#client;
    // Nothing is in flight here, or pg would lose it when the mode changes.
    const { pipeline } = client;
    if (pipeline) client.pipeline = false;
    const batch = new Batch(statements, wire, (answers) => {
      if (pipeline && !this.#given) client.pipeline = true;
      for (const answer of answers) if (answer.status === 'rejected') this.#failed(answer.reason);
      done(answers);
    });
    (client as unknown as BatchClient).query(batch);
  }

  async #inTurn(statements: readonly Statement[]): Promise<readonly Answer[]> {
    const answers: Answer[] = [];
    for (const { text, values } of statements) {
      const [answer] = await Promise.allSettled([this.query(text, values)]);
      answers.push(answer);
      if (answer.status === 'rejected') break;
    }
    return answers;
  }

  #failed(error: unknown): unknown {
    this.#mark(error);
    // pg emits its `error` only when the socket has closed, which is later.
    if (isConnectionLoss(error)) this.#lost ??= asError(error);
    return error;
  }

  readonly #onLost = (error: Error): void => {
    this.#mark(error);
    this.#lost ??= error;
  };
}

/** Other forms of the same call of pg. */
interface BatchClient {
  query(batch: Batch): unknown;
  query(statement: Statement): Promise<SqlResult>;
}
