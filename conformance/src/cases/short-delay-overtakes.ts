import { on, transient } from '@ackord/core';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

/** Longer than the case: what waits for it is still there at the end. */
const LONG_MS = 60_000;

export const shortDelayOvertakes: ConformanceCase = {
  id: 'D04',
  title: 'a short delay is not held up by longer ones that began before it',
  async run(ctx) {
    const [shortMs] = ctx.delaysMs;
    // Each message asks for its own delay; a first run fails, a second one does not.
    const asks = on(ctx.contracts.OrderCreated, ({ data }, { attempt }) => {
      if (attempt === 1) throw transient('later', data.count === 2 ? { retryAfter: LONG_MS } : {});
    });
    const retry = { delays: [shortMs, LONG_MS] };
    await ctx.startBus({ consumers: [{ options: { retry }, handlers: [asks] }] });
    const long = [await ctx.publish({ count: 2 }), await ctx.publish({ count: 2 })];
    await ctx.eventually('the long ones wait', () => {
      return ctx.history.events('message.retried').length === long.length;
    });
    const short = [await ctx.publish({ count: 1 }), await ctx.publish({ count: 1 })];
    await ctx.settled(...short);

    for (const id of short) {
      expect(ctx.history.events('message.retried', id)).toMatchObject([{ delayMs: shortMs }]);
      expect(ctx.history.steps('received', id)).toHaveLength(2);
    }
    for (const id of long) {
      expect(ctx.history.events('message.retried', id)).toMatchObject([{ delayMs: LONG_MS }]);
      expect(ctx.history.steps('received', id)).toHaveLength(1);
    }
    const left = await ctx.remaining();
    expect(left.map(({ id }) => id).toSorted()).toEqual(long.toSorted());
    expect(await ctx.raw.ready({ at: 'bucket', delayMs: LONG_MS })).toBe(long.length);
  },
};
