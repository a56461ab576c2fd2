import { Buffer } from 'node:buffer';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import { DriverReader } from '../driver-reader.ts';

export const unackedComesAgain: ConformanceCase = {
  id: 'B02',
  title: 'what was not acked when its connection broke comes again, marked as such',
  async run(ctx) {
    await using reader = await DriverReader.open(ctx);
    const ids = await Promise.all([ctx.publish(), ctx.publish(), ctx.publish()]);
    await ctx.eventually('all are handed over', () => reader.deliveries.length === ids.length);
    expect(reader.deliveries.map(({ redelivered }) => redelivered)).toEqual([false, false, false]);
    ctx.broker.line.cut();
    await ctx.eventually('the session is lost', () => reader.lost);

    await using next = await DriverReader.open(ctx);
    await ctx.eventually('they came again', () => next.deliveries.length >= ids.length);
    expect(next.ids.toSorted()).toEqual(ids.toSorted());
    for (const again of next.deliveries) {
      expect(again.redelivered || (again.nativeCount ?? 1) > 1).toBe(true);
      const before = reader.deliveries.find(({ native }) => native.id === again.native.id);
      expect(Buffer.from(again.body)).toEqual(Buffer.from(before?.body ?? []));
      expect(again.headers['ackord-attempt']).toBe(before?.headers['ackord-attempt']);
    }

    const acks = next.deliveries.map((delivery) => [delivery, { do: 'ack' }] as const);
    expect(await next.settle(...acks)).toEqual(['ok', 'ok', 'ok']);
    await next.session.close();
    expect(await ctx.raw.dump({ at: 'source' })).toEqual([]);
  },
};
