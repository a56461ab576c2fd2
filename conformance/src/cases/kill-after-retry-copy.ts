import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const killAfterRetryCopy: ConformanceCase = {
  id: 'S04',
  title: 'killed after the retry copy was confirmed: one effect, one budget, not early',
  needs: ['buckets'],
  async run(ctx) {
    // Long enough that the source gives its message back before it is due.
    const consumers = [{ options: { retry: { delays: [2_000] } } }];
    const victim = await ctx.startProcess({ dieAt: 'retry.copy.confirmed', consumers });
    const id = await ctx.publish({ script: ['transient', 'ok'] });
    await victim.died;
    expect(ctx.history.steps('ack.before', id)).toEqual([]);
    expect(await ctx.sql.attempts(id)).toMatchObject([{ attempts: 1 }]);

    // The source gives its message back, and the copy comes out of its bucket.
    await ctx.startBus({ consumers });
    await ctx.settled(id);
    await ctx.eventually('both are done', () => ctx.history.events('message.duplicate', id).at(0));
    expect(await ctx.remaining()).toEqual([]);

    expect(ctx.history.runs(id).map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(await ctx.sql.effects(id)).toHaveLength(1);
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(0);
  },
};

/** The attempt row is shared, so two forks of a message that never works end after one budget. */
export const forksShareBudget: ConformanceCase = {
  id: 'S04b',
  title: 'two forks of a message after a crash share one budget',
  needs: ['buckets'],
  async run(ctx) {
    const victim = await ctx.startProcess({ dieAt: 'retry.copy.confirmed' });
    const id = await ctx.publish({ script: ['transient'] });
    await victim.died;

    await ctx.startBus();
    await ctx.parked(id, ctx.name(), 20_000);
    // Each fork ends by itself: one by its last run, the other by the row that the first left.
    await ctx.eventually(
      'both forks are parked',
      async () => (await ctx.raw.ready({ at: 'parking' })) === 2,
    );
    const [row] = await ctx.sql.attempts(id);
    expect(row?.attempts).toBe(4);
    expect(await ctx.remaining()).toEqual([]);
    expect(ctx.history.runs(id).length).toBeLessThanOrEqual(4);
    expect(await ctx.sql.effects(id)).toEqual([]);
  },
};
