import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

const ROWS = 5;

export const outboxFollowsTransaction: ConformanceCase = {
  id: 'G05',
  title: 'a transaction that rolls back sends nothing, one that commits sends everything',
  async run(ctx) {
    const running = await ctx.startBus({ relay: true });
    const drafts = (): ReturnType<typeof ctx.order>[] =>
      Array.from({ length: ROWS }, () => ctx.order({ sku: 'book', count: 1 }));
    const undone = drafts();
    const first = drafts();
    const last = drafts();
    // Before and after it, so that a relay that goes on by row number is seen as well.
    await ctx.writeOutbox(running, first);
    await ctx.writeOutbox(running, undone, { rollback: true });
    await ctx.writeOutbox(running, last);

    const committed = [...first, ...last].map(({ id }) => id).toSorted();
    await ctx.settled(...committed);
    await ctx.eventually('all rows are deleted', async () => {
      return (await ctx.sql.outbox()).length === 0;
    });
    expect(await ctx.remaining()).toEqual([]);

    const sent = new Set(ctx.history.steps('outbox.publish.sent').map(({ id }) => id));
    expect([...sent].toSorted()).toEqual(committed);
    const received = new Set(ctx.history.steps('received').map(({ id }) => id));
    expect([...received].toSorted()).toEqual(committed);
    const orders = await ctx.sql.sql<{ id: string }>('select id from {schema}.orders');
    expect(orders.map(({ id }) => id).toSorted()).toEqual(committed);
    expect(await ctx.sql.effects()).toHaveLength(committed.length);
    expect(await ctx.sql.reserved('book')).toBe(committed.length);
  },
};
