import { migrate, pglitePool, postgres } from '@ackord/postgres';
import { PGlite } from '@electric-sql/pglite';
import { expect, it } from 'vitest';
import type { SqlPool } from '../src/client.ts';

/** A server that answers the preflight with these settings. */
function server(settings: Record<string, string>, standby = false): SqlPool {
  const answer = (text: string): Record<string, unknown>[] => {
    if (text.includes('version() as version')) return [{ version: 'PostgreSQL 18.1', standby }];
    if (text.includes('pg_settings'))
      return Object.entries(settings).map(([name, setting]) => ({ name, setting }));
    return text.includes('to_regclass') ? [{ found: 'x' }] : [{ version: 1 }];
  };
  const query = async (text: string) => ({ rows: answer(text) as never[], rowCount: 1 });
  return { connect: async () => ({ query, release: () => undefined }) };
}

const safe = {
  synchronous_commit: 'on',
  fsync: 'on',
  full_page_writes: 'on',
  default_transaction_read_only: 'off',
};

it.each([
  ['nothing', {}, false, []],
  [
    'synchronous_commit off',
    { synchronous_commit: 'off' },
    false,
    ['postgres.synchronous-commit-off'],
  ],
  ['fsync off', { fsync: 'off' }, false, ['postgres.fsync-off']],
  ['full_page_writes off', { full_page_writes: 'off' }, false, ['postgres.full-page-writes-off']],
  ['read only', { default_transaction_read_only: 'on' }, false, ['postgres.read-only']],
  ['a standby', {}, true, ['postgres.read-only']],
])('reports %s', async (_, settings, standby, codes) => {
  const store = postgres({ pool: server({ ...safe, ...settings }, standby) });
  expect((await store.doctor()).map((finding) => finding.code)).toEqual(codes);
});

it('warns about PGlite and about a schema that was not migrated', async () => {
  const pglite = await PGlite.create();
  const pool = pglitePool(pglite);
  const codes = async () => (await postgres({ pool }).doctor()).map((finding) => finding.code);
  expect(await codes()).toEqual(['postgres.schema-outdated', 'postgres.embedded']);
  await migrate(pool);
  expect(await codes()).toEqual(['postgres.embedded']);
  await pglite.close();
}, 30_000);
