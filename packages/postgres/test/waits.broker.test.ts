import { describeBroker, type PostgresBroker, startPostgres } from '@ackord/conformance/launchers';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { begin, claim, failure, openRig, outgoing, type Rig } from './rig.ts';

describeBroker('waits on the database', startPostgres, (broker: () => PostgresBroker) => {
  let pool: pg.Pool;
  let rig: Rig;
  let waits = 0;
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: broker().url, max: 1 });
    rig = await openRig({ pool });
    const client = await pool.connect();
    countWaits(client, () => {
      waits += 1;
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
      const unit = await handle(guarded);
      const outbox = [outgoing(crypto.randomUUID()), outgoing(crypto.randomUUID())];
      await unit.commit({ outcomes: [{ outcome: 'stale', version: 1 }], outbox });
      expect(waits).toBe(3);
    },
  );

  it.each([false, true])('are three when the handler fails (guarded: %s)', async (guarded) => {
    waits = 0;
    await (await handle(guarded)).fail([failure(1)]);
    expect(waits).toBe(3);
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
