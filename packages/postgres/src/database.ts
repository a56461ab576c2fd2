import { createHash } from 'node:crypto';
import { asError, bounded } from './bounded.ts';
import type { SqlPool, SqlResult, Statement } from './client.ts';
import { Connection } from './connection.ts';
import type { ResolvedOptions } from './options.ts';
import { BEGIN, NOTICE_GONE_CLIENT } from './sql/inbox.sql.ts';

/** The pool with what every call needs: schema, deadline, and which errors came from here. */
export class Database {
  readonly schema: string;
  readonly timeoutMs: number;
  /** First text of a transaction; see `tune`. */
  begin: string = BEGIN;
  readonly #pool: SqlPool;
  readonly #pipelined: boolean;
  readonly #errors = new WeakSet<object>();
  readonly #prepare: boolean;
  readonly #texts = new Map<string, { readonly text: string; readonly name?: string }>();

  constructor(options: ResolvedOptions) {
    this.schema = options.schema;
    this.timeoutMs = options.statementTimeoutMs;
    this.#pool = options.pool;
    this.#pipelined = options.pipeline === 'auto';
    this.#prepare = options.prepare;
  }

  /** The statement with the name of the schema in it. */
  sql(text: string, ...values: readonly unknown[]): Statement {
    let ready = this.#texts.get(text);
    if (ready === undefined) {
      const whole = inSchema(text, this.schema);
      ready = this.#prepare ? { text: whole, name: nameOf(whole) } : { text: whole };
      this.#texts.set(text, ready);
    }
    return { ...ready, values };
  }

  async connect(signal?: AbortSignal): Promise<Connection> {
    signal?.throwIfAborted();
    let late = false;
    const wanted = this.#pool.connect().then((client) => {
      if (late) client.release();
      return client;
    });
    const limit = { what: 'Connecting', ms: this.timeoutMs, signal };
    try {
      const client = await bounded(wanted, limit, () => {
        late = true;
      });
      return new Connection(client, this.#pipelined, this.mark);
    } catch (error) {
      this.mark(error);
      throw error;
    }
  }

  /** Learns whether the server can watch its clients, and uses it from then on. */
  async tune(signal: AbortSignal): Promise<void> {
    const connection = await this.connect(signal);
    const watched = `${BEGIN}; ${NOTICE_GONE_CLIENT}`;
    const limit = { what: 'Trying a setting', ms: this.timeoutMs, signal };
    try {
      const [tried] = await connection.batch([{ text: watched }, { text: 'rollback' }], limit);
      if (tried?.status === 'fulfilled') this.begin = watched;
      // One that was refused leaves no transaction in use: a batch in turn stops before its end.
      await connection.all([{ text: 'rollback' }], limit);
    } finally {
      connection.release();
    }
  }

  /** One statement on a connection of its own, bounded in time. */
  async run(statement: Statement, what: string, signal?: AbortSignal): Promise<SqlResult> {
    const connection = await this.connect(signal);
    try {
      const [result] = await connection.all([statement], { what, ms: this.timeoutMs, signal });
      return result as SqlResult;
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
