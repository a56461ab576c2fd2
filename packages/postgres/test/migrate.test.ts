import { migrate, migrationSql, pglitePool, postgres } from '@ackord/postgres';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { never, query } from './rig.ts';

let pglite: PGlite;
beforeAll(async () => {
  pglite = await PGlite.create();
}, 30_000);
afterAll(() => pglite.close());

const columns = (schema: string) =>
  query(
    pglitePool(pglite),
    `select table_name, column_name, data_type, column_default from information_schema.columns
     where table_schema = $1 and table_name <> 'effects' order by 1, 2`,
    [schema],
  );

it('applies what is missing, once', async () => {
  const pool = pglitePool(pglite);
  expect(await migrate(pool, { schema: 'once' })).toEqual(['0001-inbox-outbox']);
  expect(await migrate(pool, { schema: 'once' })).toEqual([]);
});

it('prints a script that gives the same tables', async () => {
  await pglite.exec(migrationSql({ schema: 'printed' }));
  const pool = pglitePool(pglite);
  await migrate(pool, { schema: 'migrated' });
  expect(await columns('printed')).toEqual(await columns('migrated'));
  await postgres({ pool, schema: 'printed' }).open(never);
  expect(await migrate(pool, { schema: 'printed' })).toEqual([]);
});

it('leaves nothing behind when a migration fails', async () => {
  const pool = pglitePool(pglite);
  await pglite.exec('create schema half; create table half.outbox (id int)');
  await expect(migrate(pool, { schema: 'half' })).rejects.toMatchObject({ code: '42P07' });
  expect(await query(pool, `select to_regclass('half.processed_messages') as found`)).toEqual([
    { found: null },
  ]);
});

it('refuses to open on a schema that is missing', async () => {
  await expect(
    postgres({ pool: pglitePool(pglite), schema: 'none' }).open(never),
  ).rejects.toMatchObject({
    code: 'MSG_STORE_SCHEMA',
  });
});

it('takes no schema name that is not a plain identifier', async () => {
  expect(() => migrationSql({ schema: 'x"; drop' })).toThrow('postgres.schema');
  await expect(migrate(pglitePool(pglite), { schema: 'X' })).rejects.toThrow('postgres.schema');
});
