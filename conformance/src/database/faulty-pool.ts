import type { SqlClient, SqlPool, SqlResult } from '@ackord/postgres';

/** A pool whose server can go away: for a database that lives in this process and cannot. */
export class FaultyPool implements SqlPool {
  readonly #inner: SqlPool;
  readonly #isDown: () => boolean;
  readonly #open = new Set<() => void>();
  #dead = false;

  constructor(inner: SqlPool, isDown: () => boolean) {
    this.#inner = inner;
    this.#isDown = isDown;
  }

  async connect(): Promise<SqlClient> {
    if (this.#isRefused) throw refused();
    const client = await this.#inner.connect();
    if (this.#isRefused) {
      client.release();
      throw refused();
    }
    return this.#wrap(client);
  }

  /** Breaks every connection; what was not committed is undone. */
  breakAll(): void {
    for (const give of this.#open) give();
  }

  /** For good. */
  kill(): void {
    this.#dead = true;
    this.breakAll();
  }

  get #isRefused(): boolean {
    return this.#dead || this.#isDown();
  }

  #wrap(client: SqlClient): SqlClient {
    let lost: ((error: Error) => void) | undefined;
    const broken = new Promise<never>((_, reject) => {
      lost = reject;
    });
    // It is awaited only by queries that run meanwhile.
    broken.catch(() => undefined);
    let given = false;
    const give = (error?: Error): void => {
      if (given) return;
      given = true;
      this.#open.delete(breakUp);
      client.release(error);
    };
    const breakUp = (): void => {
      const error = new Error('Connection terminated unexpectedly');
      lost?.(error);
      give(error);
    };
    this.#open.add(breakUp);
    const query = (text: string, values?: readonly unknown[]): Promise<SqlResult> =>
      Promise.race([broken, send(client, text, values, () => given)]);
    return {
      query: query as SqlClient['query'],
      release: give,
    };
  }
}

function send(
  client: SqlClient,
  text: string,
  values: readonly unknown[] | undefined,
  given: () => boolean,
): Promise<SqlResult> {
  if (given()) return Promise.reject(new Error('Client was closed and is not queryable'));
  const answer = client.query(text, values && [...values]);
  // The race may be over before: then nobody waits for this one.
  answer.catch(() => undefined);
  return answer;
}

function refused(): Error {
  return Object.assign(new Error('connect ECONNREFUSED: the database is stopped'), {
    code: 'ECONNREFUSED',
  });
}
