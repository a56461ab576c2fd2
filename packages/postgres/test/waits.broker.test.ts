import { describeBroker, type PostgresBroker, startPostgres } from '@ackord/conformance/launchers';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { begin, claim, failure, openRig, outgoing, type Rig } from './rig.ts';

describeBroker('waits on the database', startPostgres, (broker: () => PostgresBroker) => {
  let pool: pg.Pool;
  let rig: Rig;
  let waits = 0;
  let writes = 0;
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: broker().url, max: 1 });
    rig = await openRig({ pool });
    const client = await pool.connect();
    countWaits(client, () => {
      waits += 1;
    });
    countWrites(client, () => {
      writes += 1;
    });
    client.release();
  });
  afterAll(() => pool.end());

  const aggregate = { type: 'order', id: '1' };
  const handle = async (guarded: boolean) => {
    const unit = await begin(rig, claim(crypto.randomUUID(), { aggregate, guarded }));
    await unit.tx.query(`insert into ${rig.schema}.effects values ($1)`, ['m1']);
    return unit;
  };

  it.each([false, true])(
    'are three for the happy path, one of them the handler’s (guarded: %s)',
    async (guarded) => {
      waits = 0;
      writes = 0;
      const unit = await handle(guarded);
      const outbox = [outgoing(crypto.randomUUID()), outgoing(crypto.randomUUID())];
      await unit.commit({ outcomes: [{ outcome: 'stale', version: 1 }], outbox });
      expect(waits).toBe(3);
      expect(writes, 'what is sent together leaves in one write').toBe(3);
    },
  );

  it.each([false, true])('are three when the handler fails (guarded: %s)', async (guarded) => {
    waits = 0;
    await (await handle(guarded)).fail([failure(1)]);
    expect(waits).toBe(3);
  });

  it('are three with prepared statements, which the connection keeps', async () => {
    const prepared = await openRig({ pool }, { prepare: true });
    for (const id of ['m1', 'm2']) {
      waits = 0;
      const unit = await begin(prepared, claim(id));
      await unit.tx.query('select 1');
      await unit.commit({ outcomes: [{ outcome: 'applied' }], outbox: [outgoing(`o-${id}`)] });
      expect(waits).toBe(3);
    }
    const { rows } = await pool.query<{ uses: number }>(
      `select (generic_plans + custom_plans)::int as uses from pg_prepared_statements
       where name like 'ackord\\_%' and statement like $1`,
      [`%"${prepared.schema}"%`],
    );
    expect(rows).toEqual([{ uses: 2 }, { uses: 2 }, { uses: 2 }]);
    await prepared.store.close();
  });

  it('are more without pipelining, so that the counter is known to count', async () => {
    const plain = await openRig({ pool }, { pipeline: false });
    waits = 0;
    const unit = await begin(plain, claim('m1'));
    await unit.commit({ outcomes: [{ outcome: 'applied' }], outbox: [outgoing('o1')] });
    expect(waits).toBe(5);
    await plain.store.close();
  });
});

/** A wait: bytes go out after bytes came in, or at first. */
function countWaits(client: pg.PoolClient, count: () => void): void {
  const { stream } = (
    client as unknown as { readonly connection: { readonly stream: import('node:net').Socket } }
  ).connection;
  let answered = true;
  stream.prependListener('data', () => {
    answered = true;
  });
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  stream.write = ((...args: unknown[]) => {
    if (answered) count();
    answered = false;
    return write(...args);
  }) as typeof stream.write;
}

/** What the stream hands to its socket: one call for all that was corked. */
function countWrites(client: pg.PoolClient, count: () => void): void {
  const { stream } = (
    client as unknown as { readonly connection: { readonly stream: import('node:net').Socket } }
  ).connection;
  for (const name of ['_write', '_writev'] as const) {
    const write = stream[name]?.bind(stream) as (...args: unknown[]) => void;
    stream[name] = (...args: unknown[]) => {
      count();
      write(...args);
    };
  }
}
