import { pglitePool } from '@ackord/postgres';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, expect, it } from 'vitest';

let pglite: PGlite;
beforeAll(async () => {
  pglite = await PGlite.create();
}, 30_000);
afterAll(() => pglite.close());

it('lets the second wait until the first has given its connection back', async () => {
  const pool = pglitePool(pglite);
  const first = await pool.connect();
  const order: string[] = [];
  const second = pool.connect().then((client) => {
    order.push('second has it');
    return client;
  });
  await first.query('select 1');
  order.push('first gives it back');
  first.release();
  (await second).release();
  expect(order).toEqual(['first gives it back', 'second has it']);
});

it('undoes what a thrown-away connection had begun', async () => {
  const pool = pglitePool(pglite);
  await pool.query('create table kept (id int)');
  const client = await pool.connect();
  await client.query('begin');
  await client.query('insert into kept values ($1)', [1]);
  client.release(new Error('broken'));
  await expect(client.query('select 1')).rejects.toThrow('closed');
  expect((await pool.query('select * from kept')).rows).toEqual([]);
});

it('answers like pg: rows, count, tag, and the last of several statements', async () => {
  const pool = pglitePool(pglite);
  await pool.query('create table counted (id int)');
  expect(await pool.query('insert into counted values ($1), ($2)', [1, 2])).toMatchObject({
    rows: [],
    rowCount: 2,
    command: 'INSERT',
  });
  expect((await pool.query('select 1 as a; select 2 as b')).rows).toEqual([{ b: 2 }]);
});
