import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

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
