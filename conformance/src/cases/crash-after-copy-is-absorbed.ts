import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const crashAfterCopyIsAbsorbed: ConformanceCase = {
  id: 'D17',
  title: 'killed after the copy of attempt 1 and of attempt 2: each attempt runs once, one effect',
  needs: ['buckets'],
  timeoutMs: 45_000,
  async run(ctx) {
    const crash = { dieAt: 'retry.copy.confirmed' } as const;
    const first = await ctx.startProcess(crash);
    const id = await ctx.publish({ script: ['transient', 'transient', 'ok'] });
    await first.died;
    expect(await ctx.sql.attempts(id)).toMatchObject([{ attempts: 1 }]);
    // A copy that was only put off is made before the next attempt; that one dies with it, too.
    const second = await ctx.startProcess(crash);
    await second.died;
    expect(ctx.history.steps('ack.before', id)).toEqual([]);

    await ctx.startBus();
    await ctx.settled(id);
    await ctx.eventually('every fork is done', () => {
      return ctx.history.events('message.duplicate', id).length >= 2;
    });
    expect(await ctx.remaining()).toEqual([]);

    expect(ctx.history.runs(id).map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(await ctx.sql.effects(id)).toMatchObject([{ attempt: 3 }]);
    expect(ctx.history.events('message.failed', id).length).toBeLessThanOrEqual(2);
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(0);
  },
};
