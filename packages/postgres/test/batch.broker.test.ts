import { describeBroker, type PostgresBroker, startPostgres } from '@ackord/conformance/launchers';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Answer } from '../src/batch.ts';
import { Deadlines } from '../src/bounded.ts';
import type { SqlClient, Statement } from '../src/client.ts';
import { Connection } from '../src/connection.ts';
import { Frames } from '../src/frames.ts';
import { claim, never, openRig, query, type Rig } from './rig.ts';

const LIMIT = { what: 'a test', within: new Deadlines(5_000) };

describeBroker('statements sent together', startPostgres, (broker: () => PostgresBroker) => {
  let pool: pg.Pool;
  let rig: Rig;
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: broker().url, max: 1 });
    rig = await openRig({ pool });
  });
  afterAll(() => pool.end());

  const prepared = new Set<string>();
  const together = async (...statements: Statement[]): Promise<readonly Answer[]> => {
    const client = (await pool.connect()) as unknown as SqlClient;
    const connection = new Connection(client, { frames: new Frames(), prepared }, () => undefined);
    try {
      return await connection.batch(statements, LIMIT);
    } finally {
      connection.release();
    }
  };
  const note = (id: string): Statement => ({
    text: `insert into ${rig.schema}.effects (id) values ($1)`,
    values: [id],
  });
  const notes = async () =>
    (await rig.sql('select id from {schema}.effects order by id')).map((row) => row['id']);

  it('carry every kind of value and name what they return', async () => {
    const texts = ['', 'Grüße 🐘', 'a"b', String.raw`c\d`, '{e,f}', 'NULL'];
    const [answer] = await together({
      text: `select $1::text as plain, $2::text is null as missing, encode($3::bytea, 'hex') as bytes,
        ($4::int + 1)::text as sum, $5::boolean::text as yes,
        to_json($6::text[])::text as texts, array_to_json($7::bigint[])::text as numbers`,
      values: ['x'.repeat(20_000), null, Buffer.from([0, 255]), 41, true, [...texts, null], [1, 2]],
      columns: ['plain', 'missing', 'bytes', 'sum', 'yes', 'texts', 'numbers'],
    });
    if (answer?.status !== 'fulfilled') throw answer?.reason;
    const { texts: read, ...rest } = answer.value.rows[0] ?? {};
    expect(rest).toEqual({
      plain: 'x'.repeat(20_000),
      missing: 't',
      bytes: '00ff',
      sum: '42',
      yes: 'true',
      numbers: '[1,2]',
    });
    expect(JSON.parse(String(read))).toEqual([...texts, null]);
    expect(answer.value).toMatchObject({ rowCount: 1, command: 'SELECT' });
  });

  it('end with the first that fails, and the connection goes on', async () => {
    const wrong = { text: 'select 1 / 0' };
    const answers = await together({ text: 'begin' }, note('a'), wrong, note('b'), {
      text: 'commit',
    });
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    await together({ text: 'rollback' });
    expect(await notes()).toEqual([]);
  });

  it('report what only the end of their transaction refuses', async () => {
    await rig.sql(`create table {schema}.later (id int unique deferrable initially deferred)`);
    const insert = { text: `insert into ${rig.schema}.later values (1)` };
    const answers = await together(insert, insert);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(await rig.sql('select * from {schema}.later')).toEqual([]);
  });

  it('are all answered when the connection breaks', async () => {
    const client = (await pool.connect()) as unknown as SqlClient;
    const wire = { frames: new Frames(), prepared: new Set<string>() };
    const connection = new Connection(client, wire, () => undefined);
    const suicide = { text: 'select pg_terminate_backend(pg_backend_pid())' };
    const answers = await connection.batch([{ text: 'begin' }, suicide, { text: 'commit' }], LIMIT);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    connection.release();
  });

  it('are prepared again after a batch in which that was in doubt', async () => {
    prepared.clear();
    const named = { ...note('c'), name: 'test_note' };
    // Prepared, and then refused: nobody was told.
    const [first] = await together({ ...named, values: ['\0'] });
    expect(first?.status).toBe('rejected');
    const answers = [...(await together(named)), ...(await together({ ...named, values: ['d'] }))];
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(await notes()).toEqual(['c', 'd']);
  });

  it('claim nothing when BEGIN is refused', async () => {
    const client = await pool.connect();
    await client.query('begin');
    await client.query('select 1 / 0').catch(() => undefined);
    client.release();
    const begun = rig.store.inbox.begin([claim('m1')], never);
    await expect(begun).rejects.toMatchObject({ code: '25P02' });
    expect(await rig.sql('select * from {schema}.processed_messages')).toEqual([]);
  });

  it('go over connections in pipeline mode and under a query timeout, too', async () => {
    const other = new pg.Pool({
      connectionString: broker().url,
      max: 1,
      pipeline: true,
      query_timeout: 4_000,
    } as pg.PoolConfig);
    const piped = await openRig({ pool: other });
    const unit = await piped.store.inbox.begin([claim('m1')], never);
    expect(unit.claimed).toEqual([{ fresh: true }]);
    await unit.rollback();
    expect(await query(other, 'select 1 as one')).toEqual([{ one: 1 }]);
    await other.end();
  });
});
