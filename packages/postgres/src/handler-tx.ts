import type { SqlTx } from '@ackord/core/store';
import { storeTxEnded } from '@ackord/core/store';
import { bounded, type Limit } from './bounded.ts';
import type { SqlResult } from './client.ts';
import type { Connection } from './connection.ts';
import { STORE } from './name.ts';

/** How long the end of a transaction waits for a statement that is running, before the connection is closed. */
const GRACE_MS = 50;

/**
 * Statements that would end the transaction under the Inbox claim, also behind comments, which query
 * builders and tracers put in front. `rollback to` stays allowed.
 */
const ENDS_TRANSACTION =
  /^(?:[\s;]|--[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/i;

/** What a handler gets: statements one after the other, none after the end. */
export class HandlerTx implements SqlTx {
  readonly #connection: Connection;
  readonly #signal: AbortSignal;
  #last: Promise<unknown> = Promise.resolve();
  #running = 0;
  /** Also what was accepted is not sent any more. */
  #stopped = false;
  #why: string | undefined;
  #refused = false;
  /** Rejects what still runs; undefined while nothing does. */
  #refusals: Set<(error: Error) => void> | undefined;

  constructor(connection: Connection, signal: AbortSignal) {
    this.#connection = connection;
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    if (signal.aborted) this.#onAbort();
  }

  query<R = Record<string, unknown>>(
    text: string,
    params?: readonly unknown[],
  ): Promise<SqlResult<R>> {
    if (this.#why !== undefined) return Promise.reject(this.#refuse());
    if (ENDS_TRANSACTION.test(text)) return Promise.reject(notYours(text));
    return new Promise<SqlResult<R>>((resolve, reject) => {
      const sent = this.busy
        ? this.#last.then(() => this.#send(text, params))
        : this.#send(text, params);
      this.#running += 1;
      this.#refusals ??= new Set();
      this.#refusals.add(reject);
      const ended = (): void => {
        this.#running -= 1;
        this.#refusals?.delete(reject);
      };
      this.#last = sent.then(
        (result) => {
          ended();
          if (controlsTransaction(result)) {
            this.#why = 'a text of several statements changed the transaction';
            reject(this.#refuse());
          } else resolve(result as SqlResult<R>);
        },
        (error: unknown) => {
          ended();
          reject(error);
        },
      );
    });
  }

  #send(text: string, params: readonly unknown[] | undefined): Promise<SqlResult> {
    return this.#stopped ? Promise.reject(this.#refuse()) : this.#connection.query(text, params);
  }

  /** No statement from now on; those accepted before are still run. */
  end(): void {
    this.#why ??= 'the handler has returned';
    this.#signal.removeEventListener('abort', this.#onAbort);
  }

  /** Like `end`, and those that were accepted but not sent are refused. */
  stop(): void {
    this.end();
    this.#stopped = true;
  }

  /** True while a statement runs or waits for its turn. */
  get busy(): boolean {
    return this.#running > 0;
  }

  /** Resolves when nothing runs any more. */
  async idle(limit: Limit): Promise<void> {
    const last = this.#last;
    const start = (resolve: (value: unknown) => void): void => {
      void last.then(resolve);
    };
    await bounded(start, limit, () => undefined);
  }

  /** True when nothing runs, or no longer after a short while. */
  async settles(): Promise<boolean> {
    if (!this.busy) return true;
    return Promise.race([
      this.#last.then(() => true),
      new Promise<boolean>((resolve) => {
        setTimeout(() => resolve(false), GRACE_MS);
      }),
    ]);
  }

  /** Why the work must not be committed: a statement of the handler was refused. */
  get incomplete(): Error | undefined {
    return this.#refused ? this.#refuse() : undefined;
  }

  #refuse(): Error {
    this.#refused = true;
    return storeTxEnded(
      this.#why === undefined ? { store: STORE } : { store: STORE, why: this.#why },
    );
  }

  readonly #onAbort = (): void => {
    this.#why ??= 'the handler was stopped';
    this.#stopped = true;
    for (const refuse of this.#refusals ?? []) refuse(this.#refuse());
  };
}

const CONTROL: ReadonlySet<string | undefined> = new Set([
  'BEGIN',
  'START TRANSACTION',
  'COMMIT',
  'ROLLBACK',
  'PREPARE TRANSACTION',
]);

/** A text with several statements answers a list: then the claim may be gone, and nothing may be committed. */
function controlsTransaction(result: unknown): boolean {
  if (!Array.isArray(result)) return false;
  return result.some(({ command }: { readonly command?: string }) => CONTROL.has(command));
}

function notYours(text: string): Error {
  return new TypeError(
    `The transaction of a message belongs to the Inbox: "${text.trim().slice(0, 40)}" is refused. ` +
      'Return to commit, throw to roll back; savepoints are allowed.',
  );
}
