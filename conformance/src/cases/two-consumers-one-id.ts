import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const twoConsumersOneId: ConformanceCase = {
  id: 'C02',
  title: 'two consumers of one process both run a message: the Inbox knows them apart',
  async run(ctx) {
    await ctx.startBus({ consumers: [{ name: 'reserve' }, { name: 'audit' }] });
    const draft = ctx.order({ sku: 'book', count: 2 });
    const publisher = await ctx.startBus({ consumers: [] }, { store: false });
    // Twice the same message: each consumer has to know its own copy again.
    for (let copy = 0; copy < 2; copy += 1) {
      expect(await ctx.publishFrom(publisher, draft)).toBeUndefined();
    }
    const { id } = draft;
    await ctx.eventually('both consumers met a duplicate', () => {
      const known = ctx.history.events('message.duplicate', id);
      return new Set(known.map(({ consumer }) => consumer)).size === 2;
    });
    expect(await ctx.remaining()).toEqual([]);

    const names = [ctx.name('audit'), ctx.name('reserve')];
    const inbox = await ctx.sql.inbox(id);
    expect(inbox.map(({ consumer }) => consumer).toSorted()).toEqual(names);
    expect(inbox.map(({ outcome }) => outcome)).toEqual(['applied', 'applied']);
    const effects = await ctx.sql.effects(id);
    expect(effects.map(({ consumer }) => consumer).toSorted()).toEqual(names);
    expect(await ctx.sql.reserved('book')).toBe(4);
  },
};
