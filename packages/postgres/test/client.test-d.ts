import type { SqlTx } from '@ackord/core/store';
import { postgres } from '@ackord/postgres';
import type pg from 'pg';

export const tx = (client: pg.PoolClient): SqlTx => client;
export const store = (pool: pg.Pool) => postgres({ pool });
