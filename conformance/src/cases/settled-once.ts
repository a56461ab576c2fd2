import type { Delivery } from '@ackord/core/driver';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import { DriverReader } from '../driver-reader.ts';

const ACK = { do: 'ack' } as const;

export const settledOnce: ConformanceCase = {
  id: 'B04',
  title: 'a second ack, an ack after a return and an ack after the lease are stale and do no harm',
  async run(ctx) {
    await using reader = await DriverReader.open(ctx);
    const delivered = async (what: string): Promise<Delivery> => {
      const at = reader.deliveries.length;
      ctx.history.note(what);
      await ctx.publish();
      return await reader.nth(ctx, at);
    };

    const twice = await delivered('to be acked twice');
    expect(await reader.settle([twice, ACK])).toEqual(['ok']);
    expect(await reader.settle([twice, ACK])).toEqual(['stale']);
    expect(await reader.settle([twice, { do: 'release' }])).toEqual(['stale']);

    const atOnce = await delivered('to be acked twice in one batch');
    expect(await reader.settle([atOnce, ACK], [atOnce, ACK])).toEqual(['ok', 'stale']);

    const returned = await delivered('to be returned, then acked');
    const before = reader.deliveries.length;
    expect(await reader.settle([returned, { do: 'release' }])).toEqual(['ok']);
    expect(await reader.settle([returned, ACK])).toEqual(['stale']);
    const again = await reader.nth(ctx, before);
    expect(again.native.id).toBe(returned.native.id);
    expect(await reader.settle([again, ACK])).toEqual(['ok']);

    // Core says `drop` when a lease has ended: no ack of later ones may cover it.
    const expired = await delivered('to be dropped, then acked');
    expect(await reader.settle([expired, { do: 'drop' }])).toEqual(['ok']);
    expect(await reader.settle([expired, ACK])).toEqual(['stale']);
    const later = await delivered('after the dropped one');
    const latest = await delivered('and one more');
    expect(await reader.settle([later, ACK], [latest, ACK])).toEqual(['ok', 'ok']);

    const { lost, faults } = reader;
    expect({ lost, faults }).toEqual({ lost: undefined, faults: [] });
    await reader.session.close();
    await ctx.eventually('what was dropped is back', async () => {
      return (await ctx.raw.ready({ at: 'source' })) > 0;
    });
    const kept = await ctx.raw.dump({ at: 'source' });
    expect(kept.map(({ id }) => id)).toEqual([expired.native.id]);
  },
};
