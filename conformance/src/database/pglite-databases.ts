import { pglitePool, type SqlPool } from '@ackord/postgres';
import { PGlite } from '@electric-sql/pglite';
import {
  type CaseDatabase,
  type Databases,
  inSchema,
  prepare,
  statement,
} from './case-database.ts';
import { FaultyPool } from './faulty-pool.ts';
import { freshFiles } from './pglite-files.ts';

interface Lane {
  readonly pglite: PGlite;
  readonly pool: SqlPool;
}

/**
 * PGlites, each with one connection: a case takes one of them for itself, because a handler that
 * waits in its transaction would keep every other case waiting.
 */
export class PgliteDatabases implements Databases {
  readonly #limit: number;
  readonly #lanes: Promise<Lane>[] = [];
  #files: Promise<Blob> | undefined;
  readonly #free: Lane[] = [];
  readonly #waiting: ((lane: Lane) => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  async open(schema: string): Promise<CaseDatabase> {
    const lane = await this.#take();
    await prepare(lane.pool, schema);
    return this.#database(lane, schema);
  }

  async close(): Promise<void> {
    for (const lane of await Promise.all(this.#lanes)) await lane.pglite.close();
  }

  #database(lane: Lane, schema: string): CaseDatabase {
    let down = false;
    const pools = new Set<FaultyPool>();
    return {
      schema,
      process: () => {
        const pool = new FaultyPool(lane.pool, () => down);
        pools.add(pool);
        return { pool, kill: () => pool.kill(), end: async () => pool.kill() };
      },
      sql: (text, values) => statement(lane.pool, inSchema(text, schema), values),
      stop: async () => {
        down = true;
        for (const pool of pools) pool.breakAll();
      },
      start: async () => {
        down = false;
      },
      close: async () => {
        for (const pool of pools) pool.kill();
        await statement(lane.pool, `drop schema "${schema}" cascade`);
        this.#give(lane);
      },
    };
  }

  async #take(): Promise<Lane> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#lanes.length < this.#limit) {
      const made = this.#make();
      this.#lanes.push(made);
      const lane = await made;
      // Loading one keeps this process busy for seconds: no deadline of a case may run meanwhile.
      await Promise.all(this.#lanes);
      return lane;
    }
    return new Promise((take) => this.#waiting.push(take));
  }

  async #make(): Promise<Lane> {
    this.#files ??= freshFiles();
    const pglite = await PGlite.create({ loadDataDir: await this.#files });
    return { pglite, pool: pglitePool(pglite) };
  }

  #give(lane: Lane): void {
    const next = this.#waiting.shift();
    if (next) next(lane);
    else this.#free.push(lane);
  }
}
