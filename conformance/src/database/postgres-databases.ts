import { Pool } from 'pg';
import { type PostgresBroker, startPostgres } from '../launchers/postgres.ts';
import {
  type CaseDatabase,
  type Databases,
  inSchema,
  prepare,
  statement,
} from './case-database.ts';

/** Connections of one bus or process. */
const PROCESS_CONNECTIONS = 8;
const CONNECT_MS = 3_000;

/** A PostgreSQL; each case has a schema of its own. */
export class PostgresDatabases implements Databases {
  readonly #isolated: boolean;
  readonly #broker: PostgresBroker;
  /** For set-up and for what cases read. */
  readonly #pool: Pool;
  #isStopped = false;

  static async start(options: { readonly isolated: boolean }): Promise<PostgresDatabases> {
    return new PostgresDatabases(await startPostgres(options), options.isolated);
  }

  private constructor(broker: PostgresBroker, isolated: boolean) {
    this.#broker = broker;
    this.#isolated = isolated;
    this.#pool = poolOf(broker.url, PROCESS_CONNECTIONS);
  }

  async open(schema: string): Promise<CaseDatabase> {
    await prepare(this.#pool, schema);
    const pools = new Set<Pool>();
    return {
      schema,
      url: this.#broker.url,
      process: () => {
        const pool = poolOf(this.#broker.url, PROCESS_CONNECTIONS);
        pools.add(pool);
        const end = async (): Promise<void> => {
          if (pools.delete(pool)) await pool.end();
        };
        // Real processes die by SIGKILL; a bus of this one is only ended.
        return { pool, kill: () => void end().catch(() => undefined), end };
      },
      sql: (text, values) => statement(this.#pool, inSchema(text, schema), values),
      stop: () => this.#fault('stop', () => this.#broker.kill()),
      start: () => this.#fault('start', () => this.#broker.start()),
      close: async () => {
        // A case that failed in between leaves it stopped, and others come after it.
        if (this.#isStopped) await this.#fault('start', () => this.#broker.start());
        await Promise.all([...pools].map((pool) => pool.end()));
        await statement(this.#pool, `drop schema "${schema}" cascade`);
      },
    };
  }

  async close(): Promise<void> {
    await this.#pool.end();
    if (this.#isolated) await this.#broker.remove();
  }

  async #fault(what: 'stop' | 'start', run: () => Promise<void>): Promise<void> {
    if (this.#isolated) {
      await run();
      this.#isStopped = what === 'stop';
      return;
    }
    throw new Error(`A case that wants to ${what} the database says needs: ['database'].`);
  }
}

export function poolOf(url: string, max: number): Pool {
  const pool = new Pool({ connectionString: url, max, connectionTimeoutMillis: CONNECT_MS });
  // An idle connection that breaks is reported by the next use.
  pool.on('error', () => undefined);
  return pool;
}
