import type { SqlClient, SqlPool, SqlResult } from './client.ts';

/** The calls of a PGlite that are used. */
export interface PgliteLike {
  query(text: string, params?: unknown[]): Promise<PgliteResult>;
  exec(text: string): Promise<readonly PgliteResult[]>;
}

interface PgliteResult {
  readonly rows: unknown[];
  readonly affectedRows?: number;
  readonly command?: string;
}

/** With the shorthand that a `pg.Pool` has for one statement. */
export interface PglitePool extends SqlPool {
  query<R = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<SqlResult<R>>;
}

/**
 * A pool of one connection over PGlite, for tests and demos: whoever asks while it is taken waits.
 * Not power-loss safe. Once the database is given to a pool, everything must go through it: a statement
 * beside it would run inside whatever transaction is open. A statement that runs cannot be stopped, only waited for.
 */
export function pglitePool(pglite: PgliteLike): PglitePool {
  let free: Promise<void> = Promise.resolve();
  const connect = async (): Promise<SqlClient> => {
    let release = (): void => undefined;
    const turn = free;
    free = new Promise<void>((resolve) => {
      release = resolve;
    });
    await turn;
    return client(pglite, release);
  };
  return {
    connect,
    async query<R>(text: string, values?: readonly unknown[]): Promise<SqlResult<R>> {
      const taken = await connect();
      try {
        return await taken.query<R>(text, values);
      } finally {
        taken.release();
      }
    },
  };
}

function client(pglite: PgliteLike, free: () => void): SqlClient {
  let last: Promise<unknown> = Promise.resolve();
  let released = false;
  return {
    query<R>(text: string, values?: readonly unknown[]): Promise<SqlResult<R>> {
      if (released) return Promise.reject(new Error('Client was closed and is not queryable'));
      const result = run<R>(pglite, text, values);
      last = result.catch(() => undefined);
      return result;
    },
    release: (error) => {
      released = true;
      // There is no socket to close: what the server would undo by itself is undone here. Outside
      // a transaction ROLLBACK is only a warning.
      const clean = error ? last.then(() => pglite.exec('rollback')) : Promise.resolve();
      clean.then(free, free);
    },
  };
}

async function run<R>(
  pglite: PgliteLike,
  text: string,
  values?: readonly unknown[],
): Promise<SqlResult<R>> {
  // Like pg: without values several statements may stand in one text, and the last answers.
  const result = values?.length
    ? await pglite.query(text, [...values])
    : (await pglite.exec(text)).at(-1);
  const rows = (result?.rows ?? []) as R[];
  return {
    rows,
    rowCount: rows.length || (result?.affectedRows ?? 0),
    ...(result?.command !== undefined && { command: result.command }),
  };
}
