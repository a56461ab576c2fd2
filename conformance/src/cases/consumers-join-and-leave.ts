import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

const MESSAGES = 90;

export const consumersJoinAndLeave: ConformanceCase = {
  id: 'B18',
  title:
    'instances join, leave and lose their connection under load: nothing lost, one effect each',
  async run(ctx) {
    const spec = { consumers: [{ options: { concurrency: 2 } }] };
    const first = await ctx.startBus(spec);
    const ids: string[] = [];
    const publish = async (count: number): Promise<void> => {
      const published = Array.from({ length: count }, (_, n) => {
        const script = n % 10 === 0 ? (['transient', 'slow:10'] as const) : (['slow:10'] as const);
        return ctx.publish({ script }, { aggregate: { type: 'order', id: `k${n}` } });
      });
      ids.push(...(await Promise.all(published)));
    };
    const third = MESSAGES / 3;
    const [second] = await Promise.all([ctx.startBus(spec), publish(third)]);
    // It leaves with messages in hand that it has not begun.
    await publish(third);
    await first.close();
    const joining = ctx.startBus(spec);
    await publish(third);
    await joining;
    ctx.broker.line.cut();
    await second.close();
    await ctx.settled(...ids);
    // What was not acked or committed when the connection broke comes again before the end.
    await ctx.eventually('the broker has nothing left to give', async () => {
      const waiting = (await ctx.cast.places()).map((place) => ctx.raw.ready(place));
      return (await Promise.all(waiting)).every((count) => count === 0);
    });
    expect(await ctx.remaining()).toEqual([]);

    const effects = await ctx.sql.effects();
    expect(effects.map(({ messageId }) => messageId).toSorted()).toEqual(ids.toSorted());
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(0);
    const who = new Set(ctx.history.runs().map((run) => run.who));
    expect(who.size).toBeGreaterThanOrEqual(2);
  },
};
