import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  applied,
  begin,
  claim,
  failure,
  never,
  openRig,
  outgoing,
  type Rig,
  type Server,
} from './rig.ts';

/** What the port promises of the Inbox, on any server. */
export function inboxSuite(server: () => Server, pipeline: 'auto' | false): void {
  describe(`inbox, pipeline ${pipeline}`, () => {
    let rig: Rig;
    beforeEach(async () => {
      rig = await openRig(server(), { pipeline });
    });
    afterEach(() => rig.store.close());
    const effects = async () =>
      (await rig.sql('select id from {schema}.effects order by id')).map((r) => r['id']);
    const inbox = () =>
      rig.sql('select message_id, outcome from {schema}.processed_messages order by message_id');
    const effect = 'insert into {schema}.effects values ($1::text)';
    const run = (unit: Awaited<ReturnType<typeof begin>>, id: string) =>
      unit.tx.query(effect.replace('{schema}', rig.schema), [id]);

    it('stores effect, claim and outbox row together', async () => {
      const unit = await begin(rig, claim('m1'));
      expect(unit.claimed).toEqual([{ fresh: true }]);
      await run(unit, 'm1');
      await unit.commit({ outcomes: [{ outcome: 'applied' }], outbox: [outgoing('o1')] });
      expect(await effects()).toEqual(['m1']);
      expect(await inbox()).toEqual([{ message_id: 'm1', outcome: 'applied' }]);
      expect((await rig.store.outbox.depth(never)).ready).toBe(1);
    });

    it('tells a duplicate, also within one batch and per consumer', async () => {
      await (await begin(rig, claim('m1'))).commit(applied);
      const unit = await begin(
        rig,
        claim('m1'),
        claim('m2'),
        claim('m2'),
        claim('m1', { consumer: 'bill' }),
      );
      expect(unit.claimed.map((c) => c.fresh)).toEqual([false, true, false, true]);
      await unit.rollback();
    });

    it('runs the second claimer after the first rolled back, and not after a commit', async () => {
      const first = await begin(rig, claim('m1'));
      const second = begin(rig, claim('m1'));
      await first.rollback();
      const unit = await second;
      expect(unit.claimed).toEqual([{ fresh: true }]);
      const third = begin(rig, claim('m1'));
      await unit.commit(applied);
      const late = await third;
      expect(late.claimed).toEqual([{ fresh: false }]);
      await late.commit({ outcomes: [{ outcome: 'duplicate' }], outbox: [] });
    });

    it('leaves nothing behind after a rollback', async () => {
      const unit = await begin(rig, claim('m1', { aggregate: { type: 'order', id: '1' } }));
      await run(unit, 'm1');
      await unit.rollback();
      await unit.rollback();
      expect(await effects()).toEqual([]);
      expect(await inbox()).toEqual([]);
      expect(await rig.sql('select * from {schema}.consumer_versions')).toEqual([]);
    });

    it('refuses COMMIT when a failed statement was swallowed', async () => {
      const unit = await begin(rig, claim('m1'));
      await run(unit, 'm1');
      await expect(unit.tx.query('select 1/0')).rejects.toMatchObject({ code: '22012' });
      await expect(unit.commit(applied)).rejects.toMatchObject({
        code: 'MSG_STORE_COMMIT_REFUSED',
      });
      expect(await inbox()).toEqual([]);
    });

    it('refuses COMMIT of a guarded claim when a failed statement was swallowed', async () => {
      const unit = await begin(rig, claim('m1', { guarded: true }));
      await expect(unit.tx.query('select 1/0')).rejects.toMatchObject({ code: '22012' });
      await expect(unit.commit(applied)).rejects.toMatchObject({
        code: 'MSG_STORE_COMMIT_REFUSED',
      });
      expect(await inbox()).toEqual([]);
    });

    it('keeps the outcome of what was not applied', async () => {
      const unit = await begin(rig, claim('a'), claim('b'), claim('c'));
      const outcomes = [
        { outcome: 'stale' },
        { outcome: 'applied' },
        { outcome: 'rejected' },
      ] as const;
      await unit.commit({ outcomes, outbox: [] });
      expect((await inbox()).map((r) => r['outcome'])).toEqual(['stale', 'applied', 'rejected']);
    });

    it.each([false, true])(
      'counts failures and forgets them after success (guarded: %s)',
      async (guarded) => {
        const first = await begin(rig, claim('m1', { guarded }));
        await run(first, 'm1');
        await first.fail([failure(1, { dueAtMs: 1_784_628_005_123 })]);
        expect(await effects()).toEqual([]);
        expect(await inbox()).toEqual([]);
        const second = await begin(rig, claim('m1', { guarded }));
        expect(second.claimed).toEqual([
          {
            fresh: true,
            attempts: {
              attempts: 1,
              unknowns: 0,
              firstFailedAtMs: 1_784_628_000_123,
              lastFailedAtMs: 1_784_628_000_123,
              dueAtMs: 1_784_628_005_123,
              redriveCount: 0,
              totalAttempts: 1,
              errorType: 'Error',
              errorText: 'boom',
            },
          },
        ]);
        await second.fail([failure(2, { unknown: true })]);
        const third = await begin(rig, claim('m1', { guarded }));
        expect(third.claimed[0]?.attempts).toMatchObject({
          attempts: 2,
          unknowns: 1,
          totalAttempts: 2,
        });
        expect(third.claimed[0]?.attempts).not.toHaveProperty('dueAtMs');
        await third.commit(applied);
        expect(await rig.sql('select * from {schema}.message_attempts')).toEqual([]);
      },
    );

    it('records the larger of the number of the run and its own count + 1', async () => {
      await (await begin(rig, claim('m1'))).fail([failure(3)]);
      const second = await begin(rig, claim('m1'));
      expect(second.claimed[0]?.attempts?.attempts).toBe(3);
      await second.fail([failure(1)]);
      const third = await begin(rig, claim('m1'));
      expect(third.claimed[0]?.attempts?.attempts).toBe(4);
      await third.rollback();
    });

    it('starts new counts with a redrive, and counts copies of an earlier cycle as one more run', async () => {
      await (await begin(rig, claim('m1'))).fail([failure(4, { unknown: true })]);
      await (await begin(rig, claim('m1'))).fail([failure(1, { cycle: 1 })]);
      const row = { attempts: 1, unknowns: 0, redriveCount: 1, totalAttempts: 5 };
      const second = await begin(rig, claim('m1'));
      expect(second.claimed[0]?.attempts).toMatchObject(row);
      await second.fail([failure(4, { cycle: 0 })]);
      const third = await begin(rig, claim('m1'));
      expect(third.claimed[0]?.attempts).toMatchObject({ ...row, attempts: 2, totalAttempts: 6 });
      await third.rollback();
    });

    it('keeps the later due time of two failures, and a decision to park', async () => {
      const record = async (dueAtMs: number | undefined): Promise<number | undefined> => {
        const { dueAtMs: _, ...rest } = failure(1);
        const unit = await begin(rig, claim('m1', { guarded: true }));
        await unit.fail([{ ...rest, ...(dueAtMs !== undefined && { dueAtMs }) }]);
        const next = await begin(rig, claim('m1'));
        await next.rollback();
        return next.claimed[0]?.attempts?.dueAtMs;
      };
      expect(await record(5_000)).toBe(5_000);
      expect(await record(2_000)).toBe(5_000);
      expect(await record(9_000)).toBe(9_000);
      expect(await record(undefined)).toBeUndefined();
      expect(await record(12_000)).toBeUndefined();
    });

    it('records failures only of the claims that failed, and takes any error text', async () => {
      const unit = await begin(rig, claim('a'), claim('b'));
      await unit.fail([undefined, { ...failure(1), errorText: 'zero \0 and \ud800' }]);
      expect(await rig.sql('select message_id from {schema}.message_attempts')).toEqual([
        { message_id: 'b' },
      ]);
    });

    it('lets a failure be recorded after COMMIT was refused', async () => {
      const unit = await begin(rig, claim('m1'));
      await unit.tx.query('select 1/0').catch(() => undefined);
      await unit.commit(applied).catch(() => undefined);
      await unit.fail([failure(1)]);
      expect(await rig.sql('select attempts from {schema}.message_attempts')).toEqual([
        { attempts: 1 },
      ]);
    });

    it('keeps the highest version of an aggregate', async () => {
      const aggregate = { type: 'order', id: '42' };
      const first = await begin(rig, claim('m1', { aggregate }));
      expect(first.claimed).toEqual([{ fresh: true }]);
      await first.commit({ outcomes: [{ outcome: 'applied', version: 7 }], outbox: [] });
      const second = await begin(rig, claim('m2', { aggregate, guarded: true }));
      expect(second.claimed).toEqual([{ fresh: true, lastVersion: 7 }]);
      await second.rollback();
    });

    it('ends the tx with the unit and with the signal', async () => {
      const unit = await begin(rig, claim('m1'));
      await unit.commit(applied);
      await expect(unit.tx.query('select 1')).rejects.toMatchObject({ code: 'MSG_STORE_TX_ENDED' });
      const stop = new AbortController();
      const stopped = await rig.store.inbox.begin([claim('m2')], stop.signal);
      stop.abort(new Error('timeout'));
      await expect(stopped.tx.query('select 1')).rejects.toMatchObject({
        code: 'MSG_STORE_TX_ENDED',
      });
      await stopped.fail([failure(1)]);
      expect((await inbox()).map((r) => r['message_id'])).toEqual(['m1']);
    });

    it('does not commit the half of a handler that swallowed being stopped', async () => {
      const stop = new AbortController();
      const unit = await rig.store.inbox.begin([claim('m1')], stop.signal);
      await run(unit, 'half');
      stop.abort(new Error('timeout'));
      await run(unit, 'other half').catch(() => undefined);
      await expect(unit.commit(applied)).rejects.toMatchObject({ code: 'MSG_STORE_TX_ENDED' });
      expect(await effects()).toEqual([]);
      expect(await inbox()).toEqual([]);
    });

    it.each([
      'commit',
      ' ROLLBACK',
      'begin',
      'end;',
      'rollback and chain',
      '/* save */ -- order\n commit',
      '; commit',
    ])('refuses %s in a handler', async (text) => {
      const unit = await begin(rig, claim('m1'));
      await expect(unit.tx.query(text)).rejects.toThrow('belongs to the Inbox');
      await unit.tx.query('savepoint mine');
      await unit.tx.query('/* undo */ rollback to mine');
      await unit.commit(applied);
      expect(await inbox()).toHaveLength(1);
    });

    it('rejects a repeated outbox id and stores nothing', async () => {
      await (await begin(rig, claim('m1'))).commit({ ...applied, outbox: [outgoing('o1')] });
      const unit = await begin(rig, claim('m2'));
      await expect(unit.commit({ ...applied, outbox: [outgoing('o1')] })).rejects.toMatchObject({
        code: 'MSG_STORE_DUPLICATE_ID',
      });
      expect((await inbox()).map((r) => r['message_id'])).toEqual(['m1']);
    });

    it('purges old rows except those with an open parked record', async () => {
      for (const id of ['old', 'parked', 'new'])
        await (await begin(rig, claim(id))).commit(applied);
      await (await begin(rig, claim('gone'))).fail([failure(1)]);
      await rig.sql(
        `update {schema}.processed_messages set processed_at = now() - interval '8 days' where message_id <> 'new'`,
      );
      await rig.sql(
        `update {schema}.message_attempts set last_failed_at = now() - interval '8 days'`,
      );
      await rig.sql(`insert into {schema}.parked_messages (consumer_name, message_id, headers, body, reason)
        values ('reserve', 'parked', '{}', '', 'attempts')`);
      const weekMs = 7 * 86_400_000;
      expect(
        await rig.store.inbox.purge({ consumer: 'reserve', olderThanMs: weekMs, signal: never }),
      ).toBe(1);
      expect((await inbox()).map((r) => r['message_id'])).toEqual(['new', 'parked']);
      expect(await rig.sql('select * from {schema}.message_attempts')).toEqual([]);
    });

    it('purges in small batches, and only the consumer that it was asked for', async () => {
      await rig.sql(`insert into {schema}.processed_messages (consumer_name, message_id, processed_at)
        select c, 'm' || i, now() - interval '8 days' from generate_series(1, 1201) i, unnest(array['reserve', 'bill']) c`);
      const options = { consumer: 'reserve', olderThanMs: 1_000, signal: never };
      expect(await rig.store.inbox.purge(options)).toBe(1_201);
      expect(await rig.sql('select count(*)::int as n from {schema}.processed_messages')).toEqual([
        { n: 1_201 },
      ]);
    });

    it('runs statements that were not awaited one after the other, before COMMIT', async () => {
      const unit = await begin(rig, claim('m1'));
      const all = Promise.all(['a', 'b', 'c'].map((id) => run(unit, id)));
      await unit.commit(applied);
      await all;
      expect(await effects()).toEqual(['a', 'b', 'c']);
    });
  });
}
