import type { BusOptions, RetryOptions } from '@ackord/core';
import type { SqlTx } from '@ackord/core/store';
import type { SqlPool } from '@ackord/postgres';

/** What a service is given from outside: where it runs, not what it does. */
export interface ServiceOptions
  extends Pick<BusOptions<SqlTx>, 'broker' | 'intercept' | 'relay' | 'connect'> {
  /** A `pg.Pool`, or PGlite behind `pglitePool`. */
  readonly pool: SqlPool;
  /** Default: `RETRY`. */
  readonly retry?: RetryOptions;
}

/** Four runs within a minute, then parked. */
export const RETRY: RetryOptions = { delays: ['1s', '5s', '30s'], maxAge: '15m' };
