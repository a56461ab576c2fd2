import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const unknownFailuresHaveTheirBudget: ConformanceCase = {
  id: 'D13',
  title: 'unknown failures end by a smaller budget of their own and are told as unknown',
  async run(ctx) {
    await ctx.startBus();
    const always = await ctx.publish({ script: ['unknown'] });
    const mixed = await ctx.publish({ script: ['unknown', 'transient', 'unknown', 'ok'] });
    const cured = await ctx.publish({ script: ['transient', 'unknown', 'ok'] });
    const runs = new Map([
      [always, ['unknown', 'unknown']],
      [mixed, ['unknown', 'transient', 'unknown']],
    ]);
    for (const [id, classes] of runs) {
      const copy = await ctx.parked(id);
      expect(copy.headers).toMatchObject({
        'ackord-park-reason': 'unknown',
        'ackord-park-failure': 'unknown',
        'ackord-park-attempts': String(classes.length),
      });
    }
    await ctx.settled(cured);
    expect(await ctx.remaining()).toEqual([]);

    for (const [id, classes] of runs) {
      const failed = ctx.history.events('message.failed', id);
      expect(failed.map(({ failure }) => failure)).toEqual(classes);
      const attempts = classes.length;
      expect(await ctx.sql.attempts(id)).toMatchObject([{ attempts, unknowns: 2 }]);
      expect(ctx.history.runs(id)).toHaveLength(attempts);
    }
    expect(ctx.history.runs(cured)).toHaveLength(3);
  },
};

export const unknownBudgetIsAnOption: ConformanceCase = {
  id: 'D13b',
  title: 'the budget of unknown failures is an option, and a rule of the consumer names a class',
  async run(ctx) {
    const known = (error: unknown) => (/unknown/.test(String(error)) ? 'permanent' : undefined);
    await ctx.startBus({
      consumers: [
        { name: 'one', options: { retry: { unknown: { maxAttempts: 1 } } } },
        { name: 'three', options: { retry: { unknown: { maxAttempts: 3 } } } },
        { name: 'rule', options: { failures: [known] } },
      ],
    });
    const id = await ctx.publish({ script: ['unknown'] });
    const ends = { one: ['unknown', '1'], three: ['unknown', '3'], rule: ['permanent', '1'] };
    for (const [name, [reason, attempts]] of Object.entries(ends)) {
      const { headers } = await ctx.parked(id, ctx.name(name));
      expect(headers['ackord-park-reason'], name).toBe(reason);
      expect(headers['ackord-park-attempts'], name).toBe(attempts);
    }
  },
};
