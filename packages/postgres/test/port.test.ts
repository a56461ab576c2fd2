import { pglitePool } from '@ackord/postgres';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe } from 'vitest';
import { inboxSuite } from './inbox-suite.ts';
import { outboxSuite } from './outbox-suite.ts';
import type { Server } from './rig.ts';

describe('store port on PGlite', () => {
  let pglite: PGlite;
  let server: Server;
  beforeAll(async () => {
    pglite = await PGlite.create();
    server = { pool: pglitePool(pglite) };
  }, 30_000);
  afterAll(() => pglite.close());
  inboxSuite(() => server, 'auto');
  outboxSuite(() => server);
});
