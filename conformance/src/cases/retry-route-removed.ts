import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const retryRouteRemoved: ConformanceCase = {
  id: 'S05',
  title: 'a removed retry route: not acked, backs off, no reconnects, goes on once it is back',
  needs: ['buckets'],
  async run(ctx) {
    await ctx.startBus();
    const [first] = ctx.delaysMs;
    const bucket = { at: 'bucket', delayMs: first } as const;
    await ctx.raw.remove(bucket);
    const id = await ctx.publish({ script: ['transient', 'ok'] });

    await ctx.eventually('the copy failed again and again', () => {
      const failed = ctx.history.events('copy.failed', id);
      return failed.length >= 3 && failed.every(({ to }) => to === 'retry');
    });
    const tries = ctx.history.events('copy.failed', id);
    expect(tries.every(({ nextTryInMs }) => Number(nextTryInMs) > 0)).toBe(true);
    expect(ctx.history.steps('ack.before', id)).toEqual([]);
    expect(ctx.history.events('connection.lost')).toEqual([]);
    // Others go on meanwhile.
    await ctx.settled(await ctx.publish());

    await ctx.raw.restore(bucket);
    await ctx.settled(id);
    expect(ctx.history.runs(id).map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(await ctx.remaining()).toEqual([]);
    expect(await ctx.sql.effects(id)).toHaveLength(1);
  },
};
