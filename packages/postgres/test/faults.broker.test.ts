import { describeBroker, type PostgresBroker, startPostgres } from '@ackord/conformance/launchers';
import { migrate, postgres } from '@ackord/postgres';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { applied, begin, claim, failure, never, openRig, query, type Rig, until } from './rig.ts';

describeBroker('store faults on PostgreSQL', startPostgres, (broker: () => PostgresBroker) => {
  let pool: pg.Pool;
  let rig: Rig;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: broker().url, max: 8 });
  });
  beforeEach(async () => {
    rig = await openRig({ pool });
    await rig.store.open(never);
  });
  afterEach(async () => {
    await until('every connection came back', async () => pool.idleCount === pool.totalCount);
    await rig.store.close();
  });
  afterAll(() => pool.end());

  const pidOf = async (unit: Awaited<ReturnType<typeof begin>>) =>
    (await unit.tx.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
  const terminate = (pid: unknown) => query(pool, 'select pg_terminate_backend($1)', [pid]);
  const waiting = (count: number) =>
    until(`${count} claims wait`, async () => {
      const [row] = await query(
        pool,
        `select count(*)::int as n from pg_stat_activity
         where wait_event_type = 'Lock' and query like 'insert into "' || $1 || '".processed%'`,
        [rig.schema],
      );
      return row?.['n'] === count;
    });
  const sleeping = () =>
    until('the statement of the handler runs', async () => {
      const rows = await query(
        pool,
        `select from pg_stat_activity where wait_event = 'PgSleep' and query = 'select pg_sleep(30)'`,
      );
      return rows.length === 1;
    });
  const attempts = async () =>
    (await rig.sql('select attempts from {schema}.message_attempts'))[0]?.['attempts'];

  it('lets a second claimer wait in the database until the first has ended', async () => {
    const first = await begin(rig, claim('m1'));
    const second = begin(rig, claim('m1'));
    const third = begin(rig, claim('m1'));
    await waiting(2);
    await first.rollback();
    const winner = await Promise.race([second, third]);
    expect(winner.claimed).toEqual([{ fresh: true }]);
    await winner.commit(applied);
    const both = await Promise.all([second, third]);
    expect(both.map((u) => u.claimed[0]?.fresh).sort()).toEqual([false, true]);
    for (const unit of both) await unit.rollback();
  });

  it('lets the other copy of a guarded claim see the count that was recorded first', async () => {
    const copies = Array.from({ length: 5 }, () => begin(rig, claim('m1', { guarded: true })));
    const seen: number[] = [];
    const ended = copies.map(async (copy) => {
      const unit = await copy;
      const before = unit.claimed[0]?.attempts?.attempts ?? 0;
      seen.push(before);
      await unit.fail([failure(before + 1)]);
    });
    await Promise.all(ended);
    expect(seen).toEqual([0, 1, 2, 3, 4]);
    expect(await attempts()).toBe(5);
  });

  it('does not deadlock when batches hold the same messages in another order', async () => {
    const ids = Array.from({ length: 40 }, (_, i) => `m${i}`);
    const rounds = Array.from({ length: 6 }, async (_, round) => {
      const order = round % 2 === 0 ? ids : ids.toReversed();
      const unit = await begin(
        rig,
        ...order.map((id) => claim(id, { aggregate: { type: 't', id } })),
      );
      await unit.rollback();
    });
    await Promise.all(rounds);
  });

  it('commits nothing when one text of several statements ended the transaction', async () => {
    const unit = await begin(rig, claim('m1'));
    const text = "select 1; rollback; begin; select 'an effect without its claim'";
    await expect(unit.tx.query(text)).rejects.toMatchObject({ code: 'MSG_STORE_TX_ENDED' });
    await expect(unit.tx.query('select 1')).rejects.toMatchObject({ code: 'MSG_STORE_TX_ENDED' });
    const work = { outcomes: [{ outcome: 'applied' }], outbox: [] } as const;
    await expect(unit.commit(work)).rejects.toMatchObject({ code: 'MSG_STORE_TX_ENDED' });
    await unit.rollback();
    const again = await begin(rig, claim('m1'));
    expect(again.claimed).toEqual([{ fresh: true }]);
    // Several statements that leave the transaction alone stay allowed.
    await again.tx.query('select 1; select 2');
    await again.commit(work);
  });

  it('reports a backend that was terminated under the handler as the store being down', async () => {
    const unit = await begin(rig, claim('m1'));
    await terminate(await pidOf(unit));
    const error = await unit.tx.query('select 1').catch((e: unknown) => e);
    expect(rig.store.classify(error)).toBe('down');
    await unit.rollback();
    const again = await begin(rig, claim('m1'));
    expect(again.claimed).toEqual([{ fresh: true }]);
    await again.rollback();
  });

  it('counts the attempt on another connection when the own one is lost', async () => {
    const unit = await begin(rig, claim('m1', { guarded: true }));
    await terminate(await pidOf(unit));
    await unit.tx.query('select 1').catch(() => undefined);
    await unit.fail([failure(1)]);
    expect(await attempts()).toBe(1);
  });

  it('says that the outcome is unknown when the connection is lost during COMMIT', async () => {
    await rig.sql(`create function {schema}.slow() returns trigger language plpgsql as
      $$ begin perform pg_sleep(30); return null; end $$`);
    await rig.sql(`create constraint trigger slow after insert on {schema}.effects
      deferrable initially deferred for each row execute function {schema}.slow()`);
    const unit = await begin(rig, claim('m1'));
    const pid = await pidOf(unit);
    await unit.tx.query(`insert into ${rig.schema}.effects values ('m1')`);
    const commit = unit.commit(applied).catch((e: unknown) => e);
    await until('COMMIT runs', async () => {
      const [row] = await query(pool, 'select query from pg_stat_activity where pid = $1', [pid]);
      return row?.['query'] === 'commit';
    });
    await terminate(pid);
    const error = await commit;
    expect(error).toMatchObject({ code: 'MSG_STORE_COMMIT_UNKNOWN' });
    expect(rig.store.classify(error)).toBe('down');
  });

  it('knows that nothing was stored when the connection was lost before COMMIT', async () => {
    const unit = await begin(rig, claim('m1'));
    await terminate(await pidOf(unit));
    await unit.tx.query('select 1').catch(() => undefined);
    const error = await unit.commit(applied).catch((e: unknown) => e);
    expect(error).not.toMatchObject({ code: 'MSG_STORE_COMMIT_UNKNOWN' });
    expect(rig.store.classify(error)).toBe('down');
  });

  it('reports an error of COMMIT itself as that error', async () => {
    await rig.sql(`create table {schema}.parent (id int primary key)`);
    await rig.sql(
      `create table {schema}.child (id int references {schema}.parent deferrable initially deferred)`,
    );
    const unit = await begin(rig, claim('m1'));
    await unit.tx.query(`insert into ${rig.schema}.child values (1)`);
    await expect(unit.commit(applied)).rejects.toMatchObject({ code: '23503' });
    expect(await rig.sql('select * from {schema}.processed_messages')).toEqual([]);
  });

  it('does not wait for a statement that runs when the handler was stopped', async () => {
    const stop = new AbortController();
    const unit = await rig.store.inbox.begin([claim('m1')], stop.signal);
    const running = unit.tx.query('select pg_sleep(30)').catch((e: unknown) => e);
    await sleeping();
    stop.abort(new Error('handler timeout'));
    expect(await running).toMatchObject({ code: 'MSG_STORE_TX_ENDED' });
    const from = performance.now();
    await unit.rollback();
    expect(performance.now() - from).toBeLessThan(1_000);
    // The server notices the closed connection under its running statement.
    const again = await begin(rig, claim('m1'));
    expect(again.claimed).toEqual([{ fresh: true }]);
    expect(performance.now() - from).toBeLessThan(5_000);
    await again.rollback();
  });

  it('counts the attempt of a stopped handler before it lets go of the claim', async () => {
    const stop = new AbortController();
    const unit = await rig.store.inbox.begin([claim('m1', { guarded: true })], stop.signal);
    const running = unit.tx.query('select pg_sleep(30)').catch((e: unknown) => e);
    const other = begin(rig, claim('m1', { guarded: true }));
    await sleeping();
    await waiting(1);
    stop.abort(new Error('handler timeout'));
    await running;
    await unit.fail([failure(1)]);
    const copy = await other;
    expect(copy.claimed[0]?.attempts?.attempts).toBe(1);
    await copy.rollback();
  });

  it('counts the attempt of a stopped handler also when its connection was the last of the pool', async () => {
    const small = new pg.Pool({ connectionString: broker().url, max: 1 });
    const store = postgres({ pool: small, schema: rig.schema });
    await store.open(never);
    const stop = new AbortController();
    const unit = await store.inbox.begin([claim('m1')], stop.signal);
    const running = unit.tx.query('select pg_sleep(30)').catch((e: unknown) => e);
    await sleeping();
    stop.abort(new Error('handler timeout'));
    await running;
    const from = performance.now();
    await unit.fail([failure(1)]);
    expect(performance.now() - from).toBeLessThan(5_000);
    expect(await attempts()).toBe(1);
    await store.close();
    await small.end();
  });

  it('bounds the wait for a claim in time and closes the connection', async () => {
    const first = await begin(rig, claim('m1'));
    const impatient = postgres({ pool, schema: rig.schema, statementTimeoutMs: 500 });
    await impatient.open(never);
    const claiming = impatient.inbox.begin([claim('m1')], never).catch((e: unknown) => e);
    await waiting(1);
    expect(impatient.classify(await claiming)).toBe('down');
    // Also for the server: nobody waits any more although the first still holds the claim.
    await waiting(0);
    await first.rollback();
    await impatient.close();
  });

  it('survives the loss of a connection while the handler does something else', async () => {
    const unit = await begin(rig, claim('m1'));
    const pid = await pidOf(unit);
    await terminate(pid);
    await until('the server has closed it', async () => {
      return (await query(pool, 'select from pg_stat_activity where pid = $1', [pid])).length === 0;
    });
    const error = await unit.tx.query('select 1').catch((e: unknown) => e);
    expect(rig.store.classify(error)).toBe('down');
    await unit.fail([failure(1)]);
    expect(await attempts()).toBe(1);
  });

  it('stops waiting for a claim when the signal aborts', async () => {
    const first = await begin(rig, claim('m1'));
    const stop = new AbortController();
    const second = rig.store.inbox.begin([claim('m1')], stop.signal);
    await waiting(1);
    const reason = new Error('stop');
    stop.abort(reason);
    await expect(second).rejects.toBe(reason);
    await first.rollback();
  });

  it('bounds the wait for a connection in time and gives a late one back', async () => {
    const small = new pg.Pool({ connectionString: broker().url, max: 1 });
    const store = postgres({ pool: small, schema: rig.schema, statementTimeoutMs: 200 });
    const held = await small.connect();
    await expect(store.inbox.begin([claim('m1')], never)).rejects.toMatchObject({
      code: 'MSG_STORE_UNAVAILABLE',
    });
    held.release();
    const unit = await store.inbox.begin([claim('m1')], never);
    await unit.rollback();
    expect(small.idleCount).toBe(1);
    await store.close();
    await small.end();
  });

  it('survives the loss of an idle connection', async () => {
    const idle = new pg.Pool({ connectionString: broker().url, max: 1 });
    const store = postgres({ pool: idle, schema: rig.schema });
    const [row] = await query(idle, 'select pg_backend_pid() as pid');
    await terminate(row?.['pid']);
    await until('the pool has noticed', async () => idle.totalCount === 0);
    await store.open(never);
    await idle.end();
  });

  it('migrates once when 60 start together, and neither locks nor writes afterwards', async () => {
    const wide = new pg.Pool({ connectionString: broker().url, max: 60 });
    const schema = `${rig.schema}_m`;
    const all = await Promise.all(Array.from({ length: 60 }, () => migrate(wide, { schema })));
    expect(all.flat()).toEqual(['0001-inbox-outbox']);
    await wide.end();
    const texts: string[] = [];
    const recording = {
      connect: async () => {
        const client = await pool.connect();
        return {
          query: (text: string, values?: unknown[]) => {
            texts.push(text);
            return client.query(text, values);
          },
          release: (error?: Error) => client.release(error),
        };
      },
    };
    expect(await migrate(recording, { schema })).toEqual([]);
    expect(texts.every((text) => text.startsWith('select'))).toBe(true);
  });

  it('refuses to open on a schema that was not migrated, and classifies a refused connection', async () => {
    const bare = postgres({ pool, schema: 'nothing_here' });
    await expect(bare.open(never)).rejects.toMatchObject({ code: 'MSG_STORE_SCHEMA' });
    await bare.close();
    const nobody = new pg.Pool({ connectionString: 'postgres://postgres@127.0.0.1:1/postgres' });
    const store = postgres({ pool: nobody });
    const error = await store.open(never).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
    expect(store.classify(error)).toBe('down');
    expect(
      store.classify(Object.assign(new Error('api'), { code: 'ECONNREFUSED' })),
    ).toBeUndefined();
    await nobody.end();
  });

  it('finds nothing to say about a server with safe settings', async () => {
    expect(await rig.store.doctor()).toEqual([]);
  });
});
