import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import { LADDER, latenessByDelay, quantile, tellLateness } from '../lateness.ts';

const MESSAGES = 100;
/** Far above what any broker of the suite needs, so that only a delay that hangs fails on a busy machine. */
const MOST_P99_MS = 2_000;

export const latenessIsMeasured: ConformanceCase = {
  id: 'D03',
  title: 'every retry tells its lateness, and 99 of 100 start within the bound',
  alone: true,
  timeoutMs: 60_000,
  async run(ctx) {
    // Without an Inbox: its statements would be measured with the delays, and PGlite has one connection.
    const options = { retry: { delays: LADDER }, inbox: { none: 'measures delays' } };
    await ctx.startBus({ consumers: [{ effects: false, options }] });
    const script = ['transient', 'transient', 'transient', 'ok'] as const;
    // One first run at a time: a burst would measure how fast the database is.
    for (let count = 0; count < MESSAGES; count += 1) {
      const id = await ctx.publish({ script });
      await ctx.eventually('it was retried', () => ctx.history.events('message.retried', id).at(0));
    }
    await ctx.eventually('all have ended', () => {
      return ctx.history.events('message.applied').length === MESSAGES;
    });

    const lateness = latenessByDelay(ctx);
    expect([...lateness.keys()]).toEqual(LADDER);
    for (const [delayMs, list] of lateness) {
      expect(list, `after ${delayMs} ms`).toHaveLength(MESSAGES);
      expect(quantile(list, 0), `after ${delayMs} ms`).toBeGreaterThanOrEqual(0);
      expect(quantile(list, 0.99), `after ${delayMs} ms`).toBeLessThan(MOST_P99_MS);
    }
    // What the bus itself tells: the run of a message may not start before it was read.
    const told = ctx.history.events('message.late').map((event) => Number(event['latenessMs']));
    expect(told).toHaveLength(MESSAGES * LADDER.length);
    expect(Math.min(...told)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...told)).toBeLessThanOrEqual(
      Math.max(...[...lateness.values()].map((list) => quantile(list, 1))),
    );
    expect(await ctx.remaining()).toEqual([]);
    tellLateness(ctx);
  },
};
