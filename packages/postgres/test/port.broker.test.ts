import { describeBroker, type PostgresBroker, startPostgres } from '@ackord/conformance/launchers';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { inboxSuite } from './inbox-suite.ts';
import { outboxSuite } from './outbox-suite.ts';
import type { Server } from './rig.ts';

describeBroker('store port on PostgreSQL', startPostgres, (broker: () => PostgresBroker) => {
  let pool: pg.Pool;
  const server = (): Server => ({ pool });
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: broker().url, max: 8 });
  });
  afterEach(() => {
    // Every connection came back.
    expect(pool.idleCount).toBe(pool.totalCount);
  });
  afterAll(() => pool.end());
  inboxSuite(server, 'auto');
  inboxSuite(server, false);
  outboxSuite(server);
});
