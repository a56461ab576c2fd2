import { configInvalid } from '@ackord/core/store';
import type { SqlPool } from './client.ts';

export interface PostgresOptions {
  /** A `pg.Pool`, or `pglitePool(db)`. Stays the caller's: never ended here. */
  readonly pool: SqlPool;
  /** Schema of the library's tables. Default `ackord`. */
  readonly schema?: string;
  /** Longest wait for the library's own statements, connecting included. Default 10 000. */
  readonly statementTimeoutMs?: number;
  /** `auto`: the library's own statements are sent together where the client can (pg, not its native binding). Default `auto`. */
  readonly pipeline?: 'auto' | false;
  /**
   * True: the library's own statements are prepared once per connection (pg), which saves the
   * server their planning. Poolers between must keep named statements (PgBouncer from 1.21 in
   * transaction mode). Default false.
   */
  readonly prepare?: boolean;
}

export type ResolvedOptions = Required<PostgresOptions>;

export const DEFAULT_SCHEMA = 'ackord';

const DEFAULTS = Object.freeze({
  schema: DEFAULT_SCHEMA,
  statementTimeoutMs: 10_000,
  pipeline: 'auto',
  prepare: false,
} as const);

const KNOWN: ReadonlySet<string> = new Set(['pool', ...Object.keys(DEFAULTS)]);

/** Names that need no escaping and fit PostgreSQL's 63 bytes. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/** @throws MSG_CONFIG_INVALID an option is unknown or out of range. */
export function resolveOptions(options: PostgresOptions): ResolvedOptions {
  for (const [name, value] of Object.entries(options)) {
    if (KNOWN.has(name)) continue;
    throw configInvalid({
      option: `postgres.${name}`,
      value,
      expected: `one of the options ${[...KNOWN].join(', ')}`,
    });
  }
  const { pool, schema, statementTimeoutMs, pipeline, prepare } = {
    ...DEFAULTS,
    ...given(options),
  };
  const check = (option: string, value: unknown, fits: boolean, expected: string): void => {
    if (!fits) throw configInvalid({ option: `postgres.${option}`, value, expected });
  };
  check('pool', pool, typeof pool?.connect === 'function', 'a pg.Pool or pglitePool(db)');
  checkSchemaName(schema);
  check(
    'statementTimeoutMs',
    statementTimeoutMs,
    Number.isInteger(statementTimeoutMs) && statementTimeoutMs > 0,
    'whole milliseconds, at least 1',
  );
  check('pipeline', pipeline, pipeline === 'auto' || pipeline === false, "'auto' or false");
  check('prepare', prepare, typeof prepare === 'boolean', 'true or false');
  return Object.freeze({ pool, schema, statementTimeoutMs, pipeline, prepare });
}

/** Names go into the statements as they are. @throws MSG_CONFIG_INVALID */
export function checkSchemaName(schema: string): void {
  if (SCHEMA_NAME.test(schema)) return;
  throw configInvalid({
    option: 'postgres.schema',
    value: schema,
    expected: 'lower-case letters, digits and _, at most 63, no digit first',
  });
}

/** An option given as undefined counts as not given. */
function given(options: PostgresOptions): PostgresOptions {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as unknown as PostgresOptions;
}
