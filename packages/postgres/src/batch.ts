import { isConnectionLoss } from './classify-error.ts';
import type { SqlResult, Statement } from './client.ts';
import type { Frames } from './frames.ts';

export type Answer = PromiseSettledResult<SqlResult>;

/**
 * Statements as one query of pg, in the form that pg takes from pg-cursor and pg-query-stream: one
 * write, and one answer of the server to all of them. The first one that fails is the last answer;
 * when the connection broke, all that were not answered are rejected.
 *
 * Values of rows are text or null, under the names in `columns`.
 */
export class Batch {
  /** pg wraps it when the pool has a `query_timeout`. */
  callback: (() => void) | undefined;
  readonly #statements: readonly Statement[];
  readonly #prepared: Set<string>;
  readonly #frames: Frames;
  readonly #done: (answers: readonly Answer[]) => void;
  readonly #answers: Answer[] = [];
  #rows: Record<string, unknown>[] = [];
  #over = false;

  constructor(
    statements: readonly Statement[],
    wire: { readonly prepared: Set<string>; readonly frames: Frames },
    done: (answers: readonly Answer[]) => void,
  ) {
    this.#statements = statements;
    this.#prepared = wire.prepared;
    this.#frames = wire.frames;
    this.#done = done;
  }

  submit({ stream }: { readonly stream: { write(bytes: Uint8Array): unknown } }): void {
    stream.write(this.#frames.of(this.#statements, this.#prepared));
  }

  handleRowDescription(): void {}

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    const { columns = [] } = this.#statements[this.#answers.length] ?? {};
    for (let at = 0; at < columns.length; at += 1) row[columns[at] as string] = fields[at];
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const statement = this.#statements[this.#answers.length];
    if (statement?.name !== undefined) this.#prepared.add(statement.name);
    this.#answers.push({ status: 'fulfilled', value: answerOf(text, this.#rows) });
    if (this.#rows.length > 0) this.#rows = [];
  }

  handleReadyForQuery(): void {
    this.#end();
  }

  /** An error behind the last answer is one of the commit that Sync does. */
  handleError(reason: unknown): void {
    if (this.#over) return;
    const count = this.#statements.length;
    if (this.#answers.length === count) this.#answers.pop();
    const last = isConnectionLoss(reason) ? count : this.#answers.length + 1;
    while (this.#answers.length < last) this.#answers.push({ status: 'rejected', reason });
    this.#end();
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.callback?.();
    this.#done(this.#answers);
  }
}

/** `INSERT 0 1` is one row; `SET` and `ROLLBACK TO SAVEPOINT` count none. */
function answerOf(tag: string, rows: Record<string, unknown>[]): SqlResult {
  const at = tag.indexOf(' ');
  if (at < 0) return { rows, rowCount: null, command: tag };
  const count = Number(tag.slice(tag.lastIndexOf(' ') + 1));
  return { rows, rowCount: Number.isNaN(count) ? null : count, command: tag.slice(0, at) };
}
