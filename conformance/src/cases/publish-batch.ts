import { event } from '@ackord/core';
import { expect } from 'vitest';
import { z } from 'zod';
import type { ConformanceCase } from '../case.ts';

const COUNT = 40;
const NOBODY_READS = 7;
const DESTINATION_GONE = 23;

export const publishBatch: ConformanceCase = {
  id: 'A02',
  title: 'a batch has an outcome per message; a bad one does not fail the others',
  async run(ctx) {
    const bus = await ctx.startBus();
    const { ReservationMade } = ctx.contracts;
    const destination = ctx.name('gone');
    const Gone = event('gone', { version: 1, destination, data: z.object({}) });
    const drafts = Array.from({ length: COUNT }, (_, n) => {
      if (n === NOBODY_READS) return ReservationMade({ sku: 'book', orderId: String(n) });
      return n === DESTINATION_GONE ? Gone({}) : ctx.order();
    });
    // Declared by a first publish, so that the batch meets its absence at the broker.
    await bus.bus.publishMany([Gone({})]);
    await ctx.raw.remove({ at: 'destination', name: destination });

    const results = await ctx.publishMany(bus, drafts);
    expect(results.map(({ id }) => id)).toEqual(drafts.map(({ id }) => id));
    for (const [n, result] of results.entries()) {
      const isBad = n === NOBODY_READS || n === DESTINATION_GONE;
      expect([n, result]).toMatchObject(
        isBad
          ? [n, { outcome: 'rejected', error: { code: 'MSG_PUBLISH_UNROUTABLE' } }]
          : [n, { outcome: 'confirmed' }],
      );
    }
    const good = drafts.filter((_, n) => n !== NOBODY_READS && n !== DESTINATION_GONE);
    await ctx.settled(...good.map(({ id }) => id));
    expect(await ctx.sql.effects()).toHaveLength(good.length);
    expect(ctx.history.events('connection.lost')).toEqual([]);
  },
};
