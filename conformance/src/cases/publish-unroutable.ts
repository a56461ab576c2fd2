import { type Draft, event } from '@ackord/core';
import { expect } from 'vitest';
import { z } from 'zod';
import type { ConformanceCase } from '../case.ts';

const EACH = 20;

export const publishUnroutable: ConformanceCase = {
  id: 'A06',
  title: 'what reaches no queue is an error, among good ones too, and so is an absent destination',
  async run(ctx) {
    const bus = await ctx.startBus();
    const nobodyReads = (): Draft => ctx.contracts.ReservationMade({ sku: 'a', orderId: 'b' });
    const error = await ctx.publishFrom(bus, nobodyReads());
    expect(error).toMatchObject({ code: 'MSG_PUBLISH_UNROUTABLE', failure: 'permanent' });
    expect(error?.message).toContain(ctx.name('inventory'));

    // A destination is not enough: nobody handles this type of it.
    const to = { version: 1, destination: ctx.name('orders'), data: z.object({}) };
    const unheard = await ctx.publishFrom(bus, event('order.unheard', to)({}));
    expect(unheard).toMatchObject({ code: 'MSG_PUBLISH_UNROUTABLE' });

    // Each answer belongs to its own message.
    const drafts = Array.from({ length: 2 * EACH }, (_, n) =>
      n % 2 === 0 ? ctx.order() : nobodyReads(),
    );
    const results = await ctx.publishMany(bus, drafts);
    expect(results.map(({ outcome }) => outcome)).toEqual(
      drafts.map((_, n) => (n % 2 === 0 ? 'confirmed' : 'rejected')),
    );
    await ctx.settled(...drafts.filter((_, n) => n % 2 === 0).map(({ id }) => id));

    const there = await ctx.raw.ready({ at: 'source' });
    await ctx.raw.remove({ at: 'destination' });
    const absent = ctx.order();
    expect(await ctx.publishFrom(bus, absent)).toMatchObject({ code: 'MSG_PUBLISH_UNROUTABLE' });
    await ctx.raw.restore({ at: 'destination' });
    expect(await ctx.raw.ready({ at: 'source' })).toBe(there);
    expect(await ctx.publishFrom(bus, absent)).toBeUndefined();
    await ctx.settled(absent.id);
    expect(await ctx.sql.effects()).toHaveLength(EACH + 1);
    expect(ctx.history.events('connection.lost')).toEqual([]);
  },
};
