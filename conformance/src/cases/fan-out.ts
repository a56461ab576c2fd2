import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

const MESSAGES = 30;

export const fanOut: ConformanceCase = {
  id: 'C01',
  title: 'every consumer name gets each message, and within a name exactly one instance does',
  async run(ctx) {
    await Promise.all([
      ctx.startBus({ consumers: [{ name: 'reserve' }] }),
      ctx.startBus({ consumers: [{ name: 'reserve' }] }),
      ctx.startBus({ consumers: [{ name: 'audit' }] }),
    ]);
    const ids = await Promise.all(Array.from({ length: MESSAGES }, () => ctx.publish()));
    await ctx.eventually('both names have all', async () => {
      return (await ctx.sql.inbox()).length === 2 * MESSAGES;
    });
    expect(await ctx.remaining()).toEqual([]);

    for (const consumer of [ctx.name('reserve'), ctx.name('audit')]) {
      const got = ctx.history.steps('received').filter((step) => step.consumer === consumer);
      expect(got.map(({ id }) => id).toSorted(), consumer).toEqual(ids.toSorted());
      const effects = (await ctx.sql.effects()).filter((effect) => effect.consumer === consumer);
      expect(effects.map(({ messageId }) => messageId).toSorted(), consumer).toEqual(
        ids.toSorted(),
      );
    }
  },
};
