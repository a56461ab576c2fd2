import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const permanentParksAtOnce: ConformanceCase = {
  id: 'D11',
  title: 'a permanent failure is parked at its first attempt, without a delay',
  async run(ctx) {
    await ctx.startBus();
    const first = await ctx.publish({ script: ['permanent', 'ok'] });
    const second = await ctx.publish({ script: ['transient', 'permanent', 'ok'] });
    const attempts = new Map([
      [first, 1],
      [second, 2],
    ]);
    for (const [id, count] of attempts) {
      const copy = await ctx.parked(id);
      expect(copy.headers).toMatchObject({
        'ackord-park-reason': 'permanent',
        'ackord-park-failure': 'permanent',
        'ackord-park-attempts': String(count),
      });
    }
    expect(await ctx.remaining()).toEqual([]);

    for (const [id, count] of attempts) {
      expect(ctx.history.runs(id)).toHaveLength(count);
      expect(ctx.history.steps('retry.copy.before', id).length).toBeLessThan(count);
      expect(ctx.history.events('message.retried', id)).toHaveLength(count - 1);
      expect(await ctx.sql.attempts(id)).toMatchObject([{ attempts: count, unknowns: 0 }]);
      expect(await ctx.sql.effects(id)).toEqual([]);
      expect(await ctx.sql.inbox(id)).toEqual([]);
    }
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(2);
  },
};
