import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import { LADDER, tellLateness } from '../lateness.ts';

export const delaysAsTold: ConformanceCase = {
  id: 'D01',
  title: 'a transient failure runs 1 to n times, with exactly the delays of its policy between',
  alone: true,
  async run(ctx) {
    await ctx.startBus({ consumers: [{ options: { retry: { delays: LADDER } } }] });
    const first = await ctx.publish();
    const cured = await ctx.publish({ script: ['transient', 'transient', 'transient', 'ok'] });
    const hopeless = await ctx.publish({ script: ['transient'] });
    await ctx.settled(first, cured);
    const copy = await ctx.parked(hopeless);
    expect(await ctx.remaining()).toEqual([]);

    const runs = (id: string) => ctx.history.runs(id).map(({ attempt }) => attempt);
    expect(runs(first)).toEqual([1]);
    for (const id of [cured, hopeless]) {
      expect(runs(id)).toEqual([1, 2, 3, 4]);
      const retried = ctx.history.events('message.retried', id);
      expect(retried.map(({ delayMs }) => delayMs)).toEqual(LADDER);
      expect(retried.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
      const starts = ctx.history.runs(id).map(({ atMs }) => atMs);
      for (const [index, delayMs] of LADDER.entries()) {
        const waited = (starts[index + 1] ?? 0) - (starts[index] ?? 0);
        expect(waited).toBeGreaterThanOrEqual(delayMs);
      }
    }
    expect(await ctx.sql.effects(cured)).toMatchObject([{ attempt: 4 }]);
    expect(await ctx.sql.effects(hopeless)).toEqual([]);
    expect(copy.headers).toMatchObject({
      'ackord-park-reason': 'attempts',
      'ackord-park-attempts': '4',
    });
    tellLateness(ctx);
  },
};
