import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const businessResultIsNoFailure: ConformanceCase = {
  id: 'D12',
  title: 'a business result is acked and recorded with its event: no retry, no parking, no failure',
  async run(ctx) {
    await ctx.startBus();
    // The handler commits its result, or throws it, which takes its effect back first.
    const committed = await ctx.publish({ script: ['business', 'ok'] });
    const thrown = await ctx.publish({ script: ['reject', 'ok'] });
    const retried = await ctx.publish({ script: ['transient', 'reject', 'ok'] });
    await ctx.settled(committed, thrown, retried);
    expect(await ctx.remaining()).toEqual([]);

    expect(await ctx.sql.inbox(committed)).toMatchObject([{ outcome: 'applied' }]);
    for (const id of [thrown, retried]) {
      expect(await ctx.sql.inbox(id)).toMatchObject([{ outcome: 'rejected' }]);
      expect(ctx.history.events('message.rejected', id)).toMatchObject([{ reason: 'sold out' }]);
    }
    for (const id of [committed, thrown]) {
      expect(ctx.history.runs(id)).toHaveLength(1);
      expect(ctx.history.events('message.failed', id)).toEqual([]);
      expect(await ctx.sql.attempts(id)).toEqual([]);
    }
    expect(ctx.history.runs(retried)).toHaveLength(2);
    expect(ctx.history.events('message.retried')).toHaveLength(1);
    expect(await ctx.sql.effects()).toEqual([]);
    expect(await ctx.sql.reserved('book')).toBe(0);
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(0);

    // One event each, caused by the message that it answers.
    const rows = await ctx.sql.sql<{ body: string }>(
      `select convert_from(body, 'UTF8') body from {schema}.outbox order by seq`,
    );
    const events = rows.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    expect(events.map((event) => event['type'])).toEqual(
      Array.from({ length: 3 }, () => 'inventory.reservation_rejected'),
    );
    const causes = events.map((event) => String(event['causation_id']));
    expect(causes.toSorted()).toEqual([committed, thrown, retried].toSorted());
  },
};
