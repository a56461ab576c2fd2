import { createHash } from 'node:crypto';
import { asError, bounded, Deadlines, type Limit } from './bounded.ts';
import type { SqlClient, SqlPool, SqlResult, Statement } from './client.ts';
import { Connection, type Wire } from './connection.ts';
import { Frames } from './frames.ts';
import type { ResolvedOptions } from './options.ts';
import { BEGIN, NOTICE_GONE_CLIENT, ROLLBACK } from './sql/inbox.sql.ts';

/** The pool with what every call needs: schema, deadline, and which errors came from here. */
export class Database {
  readonly schema: string;
  /** First statements of a transaction; see `tune`. */
  begin: readonly Statement[];
  readonly #pool: SqlPool;
  readonly #pipelined: boolean;
  readonly #errors = new WeakSet<object>();
  readonly #prepare: boolean;
  readonly #within: Deadlines;
  readonly #texts = new Map<string, { readonly text: string; readonly name: string | undefined }>();
  readonly #frames = new Frames();
  readonly #prepared = new WeakMap<SqlClient, Set<string>>();

  constructor(options: ResolvedOptions) {
    this.schema = options.schema;
    this.#within = new Deadlines(options.statementTimeoutMs);
    this.#pool = options.pool;
    this.#pipelined = options.pipeline === 'auto';
    this.#prepare = options.prepare;
    this.begin = [this.sql(BEGIN)];
  }

  /** The statement with the name of the schema in it. */
  sql(text: string, ...values: readonly unknown[]): Statement {
    const { text: whole, name } = this.#text(text);
    return { text: whole, name, values };
  }

  /** A statement that answers with rows; a batch reads them under these names. */
  rows(columns: readonly string[], text: string, ...values: readonly unknown[]): Statement {
    const { text: whole, name } = this.#text(text);
    return { text: whole, name, values, columns };
  }

  #text(text: string): { readonly text: string; readonly name: string | undefined } {
    let ready = this.#texts.get(text);
    if (ready === undefined) {
      const whole = inSchema(text, this.schema);
      ready = { text: whole, name: this.#prepare ? nameOf(whole) : undefined };
      this.#texts.set(text, ready);
    }
    return ready;
  }

  /** @param what - For the error's text. */
  limit(what: string, signal?: AbortSignal): Limit {
    return { what, within: this.#within, signal };
  }

  async connect(signal?: AbortSignal): Promise<Connection> {
    signal?.throwIfAborted();
    let late = false;
    const wanted = this.#pool.connect();
    try {
      const client = await bounded<SqlClient>(
        (resolve, reject) => {
          wanted.then((given) => {
            if (late) given.release();
            else resolve(given);
          }, reject);
        },
        this.limit('Connecting', signal),
        () => {
          late = true;
        },
      );
      return new Connection(client, this.#wire(client), this.mark);
    } catch (error) {
      this.mark(error);
      throw error;
    }
  }

  /** Undefined for clients that take no batches: PGlite, the native binding, wrappers. */
  #wire(client: SqlClient): Wire | undefined {
    if (!this.#pipelined || typeof client.connection?.stream?.write !== 'function')
      return undefined;
    let prepared = this.#prepared.get(client);
    if (prepared === undefined) {
      prepared = new Set();
      this.#prepared.set(client, prepared);
    }
    return { frames: this.#frames, prepared };
  }

  /** Learns whether the server can watch its clients, and uses it from then on. */
  async tune(signal: AbortSignal): Promise<void> {
    const connection = await this.connect(signal);
    const watched = [this.sql(BEGIN), this.sql(NOTICE_GONE_CLIENT)];
    const rollback = this.sql(ROLLBACK);
    const limit = this.limit('Trying a setting', signal);
    try {
      const answers = await connection.batch([...watched, rollback], limit);
      if (answers.every(({ status }) => status === 'fulfilled')) this.begin = watched;
      // One that was refused leaves no transaction in use: a batch stops before its end.
      else await connection.all([rollback], limit);
    } finally {
      connection.release();
    }
  }

  /** One statement on a connection of its own, bounded in time. */
  async run(statement: Statement, what: string, signal?: AbortSignal): Promise<SqlResult> {
    const connection = await this.connect(signal);
    try {
      return await connection.one(statement, this.limit(what, signal));
    } finally {
      connection.release();
    }
  }

  readonly mark = (error: unknown): void => {
    this.#errors.add(asError(error));
  };

  /** True for errors that a connection of this store raised. */
  raised(error: unknown): boolean {
    return typeof error === 'object' && error !== null && this.#errors.has(error);
  }
}

/** The same for the same text in every process, so that a pooler may share it. At most 63 bytes. */
function nameOf(text: string): string {
  return `ackord_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
}

/** Statements name their tables as `{schema}.table`. */
export function inSchema(text: string, schema: string): string {
  return text.replaceAll('{schema}', `"${schema}"`);
}
