import type { Claim, OutboxMessage, SlotLease, SqlTx, UnitOfWork } from '@ackord/core/store';
import {
  hashSlot,
  migrate,
  type PostgresOptions,
  type PostgresStore,
  postgres,
  type SqlPool,
} from '@ackord/postgres';

/** A database to test against. */
export interface Server {
  readonly pool: SqlPool;
}

export interface Rig {
  readonly schema: string;
  readonly store: PostgresStore;
  readonly pool: SqlPool;
  /** One statement outside any unit; `{schema}` names the schema. */
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
}

export const never: AbortSignal = new AbortController().signal;

let made = 0;

export async function openRig(
  { pool }: Server,
  options: Omit<PostgresOptions, 'pool' | 'schema'> = {},
): Promise<Rig> {
  made += 1;
  const schema = `t${process.pid}_${Date.now().toString(36)}_${made}`;
  await migrate(pool, { schema });
  const store = postgres({ pool, schema, ...options });
  const sql = (text: string, values?: unknown[]) =>
    query(pool, text.replaceAll('{schema}', schema), values);
  await sql('create table {schema}.effects (id text, note text)');
  return { schema, store, pool, sql };
}

export async function query(
  pool: SqlPool,
  text: string,
  values?: unknown[],
): Promise<Record<string, unknown>[]> {
  const client = await pool.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    client.release();
  }
}

export const claim = (messageId: string, more: Partial<Claim> = {}): Claim => ({
  consumer: 'reserve',
  messageId,
  guarded: false,
  ...more,
});

export const begin = (rig: Rig, ...claims: Claim[]): Promise<UnitOfWork<SqlTx>> =>
  rig.store.inbox.begin(claims, never);

export const applied = { outcomes: [{ outcome: 'applied' }], outbox: [] } as const;

export const failure = (
  attempt: number,
  more: { readonly unknown?: boolean; readonly dueAtMs?: number; readonly cycle?: number } = {},
) => ({
  attempt,
  unknown: false,
  cycle: 0,
  atMs: 1_784_628_000_123,
  errorType: 'Error',
  errorText: 'boom',
  ...more,
});

export const outgoing = (messageId: string, more: Partial<OutboxMessage> = {}): OutboxMessage => ({
  messageId,
  broker: 'main',
  target: 'x:orders',
  destination: 'orders',
  type: 'order.created',
  dedupId: messageId,
  contentType: 'application/json',
  headers: { 'ackord-v': '1', note: 'Grüße\u0000' },
  body: new TextEncoder().encode(`{"id":"${messageId}"}`),
  ...more,
});

export async function lease(
  rig: Rig,
  owner: string,
  more: { readonly ttlMs?: number; readonly busy?: readonly number[] } = {},
): Promise<readonly SlotLease[]> {
  return rig.store.outbox.lease({ owner, ttlMs: 60_000, busy: [], signal: never, ...more });
}

export const fetchRows = (rig: Rig, leases: readonly SlotLease[], more: object = {}) =>
  rig.store.outbox.fetch({
    leases,
    brokers: ['main'],
    limit: 100,
    except: [],
    signal: never,
    ...more,
  });

/** Adds outside a unit, each call in a transaction of its own. */
export async function addRows(rig: Rig, ...messages: OutboxMessage[]): Promise<void> {
  const client = await rig.pool.connect();
  try {
    await rig.store.outbox.add(asTx(client), messages);
  } finally {
    client.release();
  }
}

export function asTx(client: { query(text: string, values?: unknown[]): Promise<unknown> }): SqlTx {
  return { query: (text, params) => client.query(text, params && [...params]) as never };
}

export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 5_000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`Not within 5 s: ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
}

export const hashSlotOf: (text: string) => number = hashSlot;
