import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

/** Copies after the first one. */
const COPIES = 2;

export const duplicateRunsOnce: ConformanceCase = {
  id: 'G01',
  title: 'a message that comes again after it was done: one effect, every delivery is acked',
  async run(ctx) {
    await ctx.startBus();
    const publisher = await ctx.startBus({ consumers: [] }, { store: false });
    const draft = ctx.order({ sku: 'book', count: 3, script: ['publish'] });
    const { id } = draft;
    expect(await ctx.publishFrom(publisher, draft)).toBeUndefined();
    await ctx.eventually('it is done', () => ctx.history.steps('ack.after', id).length === 1);
    const [announced] = await ctx.sql.outbox();

    for (let copy = 1; copy <= COPIES; copy += 1) {
      expect(await ctx.publishFrom(publisher, draft)).toBeUndefined();
      await ctx.eventually(`copy ${copy} is acked`, () => {
        return ctx.history.steps('ack.after', id).length === 1 + copy;
      });
    }
    expect(await ctx.remaining()).toEqual([]);

    expect(ctx.history.runs(id)).toHaveLength(1);
    expect(ctx.history.events('message.duplicate', id)).toHaveLength(COPIES);
    expect(ctx.history.steps('received', id)).toHaveLength(1 + COPIES);
    expect(await ctx.sql.effects(id)).toHaveLength(1);
    expect(await ctx.sql.reserved('book')).toBe(3);
    expect(await ctx.sql.inbox(id)).toEqual([
      { consumer: ctx.name(), messageId: id, outcome: 'applied' },
    ]);
    // What the one run announced is there once, too.
    expect(announced).toBeDefined();
    expect(await ctx.sql.outbox()).toEqual([announced]);
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(0);
  },
};
