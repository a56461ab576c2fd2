import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const killAfterCommit: ConformanceCase = {
  id: 'S01',
  title: 'killed after COMMIT and before the ack: comes again, one effect',
  async run(ctx) {
    const victim = await ctx.startProcess({ dieAt: 'commit.after' });
    const id = await ctx.publish({ sku: 'book', count: 3 });
    await victim.died;
    expect(await ctx.sql.reserved('book')).toBe(3);
    expect(ctx.history.steps('ack.before', id)).toEqual([]);

    await ctx.startBus();
    await ctx.eventually('the message came again and was known', () =>
      ctx.history.events('message.duplicate', id).at(0),
    );
    expect(await ctx.remaining()).toEqual([]);

    expect(ctx.history.runs(id)).toHaveLength(1);
    expect(await ctx.sql.effects(id)).toHaveLength(1);
    expect(await ctx.sql.reserved('book')).toBe(3);
    expect(await ctx.sql.inbox(id)).toEqual([
      { consumer: ctx.name(), messageId: id, outcome: 'applied' },
    ]);
  },
};

/** The other side of COMMIT: an ack that came too early would lose the message here. */
export const killBeforeCommit: ConformanceCase = {
  id: 'S01b',
  title: 'killed before COMMIT: nothing happened, comes again, one effect',
  async run(ctx) {
    const victim = await ctx.startProcess({ dieAt: 'commit.before' });
    const id = await ctx.publish({ sku: 'book', count: 3 });
    await victim.died;
    expect(await ctx.sql.effects(id)).toEqual([]);

    await ctx.startBus();
    await ctx.settled(id);
    expect(await ctx.remaining()).toEqual([]);

    expect(await ctx.sql.effects(id)).toHaveLength(1);
    expect(await ctx.sql.reserved('book')).toBe(3);
  },
};
