import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const parkingUnavailable: ConformanceCase = {
  id: 'S07',
  title: 'a missing parking place: kept, told, source backs up, parked once it is back',
  async run(ctx) {
    const consumer = { options: { concurrency: 1 } };
    await ctx.startBus({ consumers: [consumer] });
    await ctx.raw.remove({ at: 'parking' });
    const ids: string[] = [];
    // More than the window of one handler holds.
    while (ids.length < 12) ids.push(await ctx.publish({ script: ['permanent'] }));
    const [first = ''] = ids;

    await ctx.eventually('the alarm is raised', () => {
      const failed = ctx.history.events('copy.failed', first);
      return failed.length >= 3 && failed.every(({ to }) => to === 'parking');
    });
    expect(ctx.history.steps('ack.before')).toEqual([]);
    expect(ctx.history.events('message.parked')).toEqual([]);
    expect(await ctx.raw.ready({ at: 'source' })).toBeGreaterThan(0);

    await ctx.raw.restore({ at: 'parking' });
    for (const id of ids) {
      const copy = await ctx.parked(id, ctx.name(), 15_000);
      expect(copy.headers['ackord-park-reason']).toBe('permanent');
    }
    expect(await ctx.remaining()).toEqual([]);
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(ids.length);
    expect(ctx.history.runs(first)).toHaveLength(1);
  },
};
