import type { SqlClient, SqlPool } from '@ackord/postgres';

/** A pool whose database can be taken away: connecting is refused, open connections are reset. */
export interface FlakyPool extends SqlPool {
  down: boolean;
}

export function flakyPool(pool: SqlPool): FlakyPool {
  const flaky: FlakyPool = {
    down: false,
    async connect() {
      if (flaky.down) throw networkError('ECONNREFUSED');
      return flakyClient(await pool.connect(), flaky);
    },
  };
  return flaky;
}

function flakyClient(client: SqlClient, pool: { readonly down: boolean }): SqlClient {
  let broken: Error | undefined;
  return {
    async query(text, values) {
      if (pool.down) broken ??= networkError('ECONNRESET');
      if (broken !== undefined) throw broken;
      return await client.query(text, values);
    },
    // What was open when the connection broke is rolled back, as a server does.
    release: (error) => client.release(error ?? broken),
  };
}

function networkError(code: string): Error {
  return Object.assign(new Error(`The demo took the database away (${code})`), { code });
}
