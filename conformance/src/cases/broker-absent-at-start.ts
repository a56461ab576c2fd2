import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

/** Back-off of every bus of the suite. */
const BASE_MS = 50;
const CAP_MS = 1_000;
const TRIES = 8;

export const brokerAbsentAtStart: ConformanceCase = {
  id: 'H08',
  title: 'without a broker a start tries again with capped, jittered back-off, then works',
  async run(ctx) {
    ctx.broker.line.refuse();
    const bus = await ctx.startBus({}, { start: false });
    const starting = bus.start();
    const failed = () => ctx.history.events('connection.failed');
    await ctx.eventually(`${TRIES} tries failed`, () => failed().length >= TRIES, 20_000);
    expect(bus.bus.health()).toMatchObject({ status: 'unhealthy' });
    await ctx.broker.line.accept();
    await starting;

    const waits = failed().map(({ nextTryInMs, tries, atMs }) => {
      return { waitMs: Number(nextTryInMs), tries: Number(tries), atMs };
    });
    expect(waits.map(({ tries }) => tries)).toEqual(waits.map((_, n) => n + 1));
    const ceilings = waits.map(({ tries }) => Math.min(CAP_MS, BASE_MS * 2 ** (tries - 1)));
    for (const [n, { waitMs, atMs }] of waits.entries()) {
      expect(waitMs).toBeLessThanOrEqual(ceilings[n] ?? 0);
      const next = waits[n + 1];
      // Timers fire up to a millisecond early by the wall clock.
      if (next) expect(next.atMs - atMs).toBeGreaterThanOrEqual(waitMs - 2);
    }
    // Jitter: hosts that lost the same broker must not come back in step.
    const shares = waits.map(({ waitMs }, n) => waitMs / (ceilings[n] ?? 1));
    expect(Math.max(...shares) - Math.min(...shares)).toBeGreaterThan(0.1);

    const id = await ctx.publish();
    await ctx.settled(id);
    expect(await ctx.sql.effects(id)).toHaveLength(1);
  },
};
