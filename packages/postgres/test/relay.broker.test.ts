import { describeBroker, type PostgresBroker, startPostgres } from '@ackord/conformance/launchers';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { addRows, asTx, fetchRows, lease, never, openRig, outgoing, type Rig } from './rig.ts';

describeBroker(
  'outbox with several transactions',
  startPostgres,
  (broker: () => PostgresBroker) => {
    let pool: pg.Pool;
    let rig: Rig;
    beforeAll(() => {
      pool = new pg.Pool({ connectionString: broker().url, max: 12 });
    });
    beforeEach(async () => {
      rig = await openRig({ pool });
    });
    afterEach(() => rig.store.close());
    afterAll(() => pool.end());

    it('finds the row of a late committer after later rows were sent and removed', async () => {
      const slow = await pool.connect();
      await slow.query('begin');
      await rig.store.outbox.add(asTx(slow), [outgoing('late')]);
      await addRows(rig, outgoing('early'));
      const leases = await lease(rig, 'r');
      const rows = await fetchRows(rig, leases);
      expect(rows.map((r) => r.messageId)).toEqual(['early']);
      const epoch = 1;
      await rig.store.outbox.remove(
        rows.map(({ seq, slot }) => ({ seq, slot, epoch })),
        never,
      );
      await slow.query('commit');
      slow.release();
      expect((await fetchRows(rig, leases)).map((r) => r.messageId)).toEqual(['late']);
    });

    it('leaves no row behind when the transaction of the producer rolls back', async () => {
      const client = await pool.connect();
      await client.query('begin');
      await rig.store.outbox.add(asTx(client), [outgoing('m1')]);
      await client.query('rollback');
      client.release();
      expect(await fetchRows(rig, await lease(rig, 'r'))).toEqual([]);
    });

    it('gives every slot to one of many relays that lease at the same time', async () => {
      const owners = Array.from({ length: 8 }, (_, i) => `relay${i}`);
      let held: number[][] = [];
      for (let round = 0; round < 4; round += 1) {
        held = await Promise.all(
          owners.map(async (owner) => (await lease(rig, owner)).map((l) => l.slot)),
        );
      }
      expect(new Set(held.flat()).size).toBe(held.flat().length);
      // Those that asked at the same moment may miss a share that was just given back: one round later all is taken.
      held = [];
      for (const owner of owners) held.push((await lease(rig, owner)).map((l) => l.slot));
      expect(held.map((h) => h.length)).toEqual(owners.map(() => 8));
    });

    it('gives concurrent writers of one aggregate versions without gap or repetition', async () => {
      const of = { destination: 'orders', type: 'order', id: '1' };
      const versions = await Promise.all(
        Array.from({ length: 30 }, async (_, i) => {
          const client = await pool.connect();
          await client.query('begin');
          const version = await rig.store.outbox.nextVersion(asTx(client), of);
          await client.query(i % 5 === 0 ? 'rollback' : 'commit');
          client.release();
          return i % 5 === 0 ? 0 : version;
        }),
      );
      const kept = versions.filter((v) => v > 0).sort((a, b) => a - b);
      expect(kept).toEqual(Array.from({ length: 24 }, (_, i) => i + 1));
    });

    it('polls by the index although 20,000 rows of a broker that is down wait', async () => {
      await rig.sql(`insert into {schema}.outbox (message_id, broker, target, destination, message_type, dedup_id,
        content_type, headers, body, slot)
      select 'm' || i, 'down', 't', 'd', 'x', 'm' || i, 'text/plain', '{}', '', i % 64 from generate_series(1, 20000) i`);
      await rig.sql('analyze {schema}.outbox');
      await addRows(rig, outgoing('up'));
      const leases = await lease(rig, 'r');
      const from = performance.now();
      expect((await fetchRows(rig, leases)).map((r) => r.messageId)).toEqual(['up']);
      expect(performance.now() - from).toBeLessThan(200);
    });
  },
);
