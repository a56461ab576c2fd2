import type { SqlTx } from '@ackord/core/store';
import type { SqlPool } from '@ackord/postgres';

/** Runs `work` between BEGIN and COMMIT. Any query builder's transaction does as well. */
export async function inTransaction<T>(pool: SqlPool, work: (tx: SqlTx) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  // A connection that breaks between two statements fails the next one. Without a listener, pg ends the process.
  client.on?.('error', ignore);
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    // The server rolls back when the connection goes.
    client.release(error instanceof Error ? error : new Error(String(error)));
    throw error;
  } finally {
    client.removeListener?.('error', ignore);
  }
}

function ignore(): void {}
