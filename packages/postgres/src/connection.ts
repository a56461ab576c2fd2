import { asError, bounded, type Limit } from './bounded.ts';
import { isConnectionLoss } from './classify-error.ts';
import type { SqlClient, SqlResult, Statement } from './client.ts';

export type Answer = PromiseSettledResult<SqlResult>;

/** One checked-out client. Given back exactly once: clean by `release`, else by `destroy`. */
export class Connection {
  readonly #client: SqlClient;
  readonly #pipelined: boolean;
  readonly #mark: (error: unknown) => void;
  #lost: Error | undefined;
  #given = false;

  constructor(client: SqlClient, pipelined: boolean, mark: (error: unknown) => void) {
    this.#client = client;
    // Present only where the client can do it (pg 8.23); the native binding cannot.
    this.#pipelined = pipelined && typeof client.pipeline === 'boolean';
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

  /**
   * Sends all with one wait where the client can, else one after the other up to the first error:
   * the answers are then fewer than the statements. Rejects only when the limit is reached; the
   * connection is destroyed then.
   */
  async batch(statements: readonly Statement[], limit: Limit): Promise<readonly Answer[]> {
    const work = this.#pipelined ? this.#together(statements) : this.#inTurn(statements);
    return bounded(work, limit, (error) => {
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

  async #together(statements: readonly Statement[]): Promise<readonly Answer[]> {
    const client = this.#client as CallbackClient;
    const lost = this.#lost;
    if (lost) return statements.map(() => ({ status: 'rejected', reason: this.#failed(lost) }));
    const before = client.pipeline;
    client.pipeline = true;
    const { stream } = client.connection ?? {};
    stream?.cork?.();
    const sent = answersOf(client, statements, (error) => this.#failed(error));
    stream?.uncork?.();
    const answers = await sent;
    // Only after the last answer: pg loses statements in flight when the mode changes.
    if (before !== undefined && !this.#given) client.pipeline = before;
    return answers;
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

/** The form of pg without a promise for each statement, which costs as much as the statement itself. */
type CallbackClient = Omit<SqlClient, 'query'> & {
  query(
    statement: string | Statement,
    values: readonly unknown[] | undefined,
    ended: (error: unknown, result?: SqlResult) => void,
  ): unknown;
};

function answersOf(
  client: CallbackClient,
  statements: readonly Statement[],
  failed: (error: unknown) => unknown,
): Promise<readonly Answer[]> {
  return new Promise((resolve) => {
    const answers: Answer[] = [];
    let left = statements.length;
    for (const [at, statement] of statements.entries()) {
      const ended = (error: unknown, value?: SqlResult): void => {
        if (answers[at] !== undefined) return;
        answers[at] =
          value === undefined || error
            ? { status: 'rejected', reason: failed(error) }
            : { status: 'fulfilled', value };
        left -= 1;
        if (left === 0) resolve(answers);
      };
      const { text, values, name } = statement;
      // pg copies an object slowly, so only what has a name comes as one.
      const result =
        name === undefined
          ? client.query(text, values, ended)
          : client.query(statement, undefined, ended);
      // A wrapper around pg may know promises only.
      if (result instanceof Promise) result.then((value: SqlResult) => ended(null, value), ended);
    }
  });
}
