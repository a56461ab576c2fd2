import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import { allAcked, atTwoInstances } from '../two-instances.ts';

export const duplicatesAtOnce: ConformanceCase = {
  id: 'G02',
  title: 'the same message at two instances at once: the second waits, one effect',
  async run(ctx) {
    const { id, gate, first } = await atTwoInstances(ctx);
    gate.open();
    await allAcked(ctx, id);
    expect(await ctx.remaining()).toEqual([]);

    expect(ctx.history.runs(id)).toHaveLength(1);
    expect(ctx.history.events('message.duplicate', id).length).toBeGreaterThanOrEqual(1);
    expect(ctx.history.steps('commit.after', id).map(({ who }) => who)).toEqual([first]);
    expect(await ctx.sql.effects(id)).toHaveLength(1);
    expect(await ctx.sql.reserved('book')).toBe(2);
    expect(await ctx.sql.inbox(id)).toHaveLength(1);
  },
};

export const secondRunsAfterRollback: ConformanceCase = {
  id: 'G02b',
  title:
    'the same message at two instances at once, the first rolls back: a later one runs, one effect',
  async run(ctx) {
    const { id, gate } = await atTwoInstances(ctx, { fails: true });
    gate.open();
    await allAcked(ctx, id);
    expect(await ctx.remaining()).toEqual([]);

    expect(ctx.history.events('message.failed', id)).toHaveLength(1);
    expect(ctx.history.steps('commit.after', id)).toHaveLength(1);
    expect(await ctx.sql.effects(id)).toHaveLength(1);
    expect(await ctx.sql.reserved('book')).toBe(2);
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(0);
  },
};
