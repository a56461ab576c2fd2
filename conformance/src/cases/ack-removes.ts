import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import { DriverReader } from '../driver-reader.ts';

/** More than a broker settles at a time, so that acks under way at the close are seen. */
const MESSAGES = 100;

export const ackRemoves: ConformanceCase = {
  id: 'B01',
  title: 'what was acked does not come again after a restart of the consumer',
  async run(ctx) {
    const first = await ctx.startBus();
    const plain = await Promise.all(Array.from({ length: MESSAGES }, () => ctx.publish()));
    const retried = await ctx.publish({ script: ['transient', 'ok'] });
    const parked = await ctx.publish({ script: ['permanent'] });
    await ctx.settled(...plain, retried);
    await ctx.parked(parked);
    // At once: the acks of the last messages are still on their way.
    await first.close();

    const second = await ctx.startBus();
    const marker = await ctx.publish();
    await ctx.settled(marker);
    expect(await ctx.remaining()).toEqual([]);

    const again = ctx.history.steps('received').filter(({ who }) => who === second.name);
    expect(again.map(({ id }) => id)).toEqual([marker]);
    for (const id of plain) expect(ctx.history.steps('received', id)).toHaveLength(1);
    expect(ctx.history.steps('received', retried)).toHaveLength(2);
    expect(ctx.history.events('settle.lost')).toEqual([]);
  },
};

/** A quorum queue of RabbitMQ takes about 32 pipelined settles and drops the rest at a close. */
export const acksOnTheirWay: ConformanceCase = {
  id: 'B01b',
  title: 'acks on their way when the session closes are taken, each for its own delivery',
  async run(ctx) {
    await using reader = await DriverReader.open(ctx, MESSAGES);
    await Promise.all(Array.from({ length: MESSAGES }, () => ctx.publish()));
    await ctx.eventually('all are handed over', () => reader.deliveries.length === MESSAGES);
    // As a bus does it: what still ran when the intake ended is acked after that.
    await reader.stop();
    // Every second one: no ack can stand for several.
    const acked = reader.deliveries.filter((_, index) => index % 2 === 1);
    const left = reader.ids.filter((_, index) => index % 2 === 0);
    const answers = await reader.settle(...acked.map((each) => [each, { do: 'ack' }] as const));
    await reader.session.close();

    expect(new Set(answers)).toEqual(new Set(['ok']));
    await ctx.eventually('the others are back', async () => {
      return (await ctx.raw.ready({ at: 'source' })) >= left.length;
    });
    const kept = await ctx.raw.dump({ at: 'source' });
    expect(kept.map(({ id }) => id).toSorted()).toEqual(left.toSorted());
  },
};
