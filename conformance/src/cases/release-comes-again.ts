import { Buffer } from 'node:buffer';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import { DriverReader } from '../driver-reader.ts';

/** More than a broker's own limit of failed deliveries (20 on RabbitMQ since 4.0). */
const RELEASES = 25;

export const releaseComesAgain: ConformanceCase = {
  id: 'B03',
  title: 'what is returned without delay comes again each time and never counts as a failure',
  async run(ctx) {
    await using reader = await DriverReader.open(ctx);
    const id = await ctx.publish();
    for (let turn = 1; turn <= RELEASES; turn += 1) {
      const delivery = await reader.nth(ctx, turn - 1);
      expect(await reader.settle([delivery, { do: 'release' }])).toEqual(['ok']);
    }
    const last = await reader.nth(ctx, RELEASES);
    const [first] = reader.deliveries;
    expect(new Set(reader.ids)).toEqual(new Set([id]));
    expect(Buffer.from(last.body)).toEqual(Buffer.from(first?.body ?? []));
    if (reader.session.capabilities.nativeCount === 'failures') expect(last.nativeCount).toBe(1);

    expect(await reader.settle([last, { do: 'ack' }])).toEqual(['ok']);
    await reader.session.close();
    expect(reader.deliveries).toHaveLength(RELEASES + 1);
    expect(await ctx.raw.dump({ at: 'source' })).toEqual([]);
    expect(await ctx.raw.dump({ at: 'parking' })).toEqual([]);
  },
};
