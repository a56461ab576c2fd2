import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const sigtermDrains: ConformanceCase = {
  id: 'H12b',
  title: 'SIGTERM (in memory: close) lets the running handler finish and settle, then ends with 0',
  timeoutMs: 60_000,
  async run(ctx) {
    const consumers = [{ options: { concurrency: 1 } }];
    const process = await ctx.startProcess({ consumers });
    const running = await ctx.publish({ script: ['slow:700'] });
    await ctx.eventually('its handler runs', () => ctx.history.runs(running).at(0));
    const behind = await Promise.all([ctx.publish(), ctx.publish()]);
    await process.stop();

    if (ctx.profile.kill === 'process') {
      expect(ctx.history.of('died')).toMatchObject([{ who: process.name, how: 'exit code 0' }]);
    }
    expect(ctx.history.runs().map(({ id }) => id)).toEqual([running]);
    expect(ctx.history.of('ran').map(({ ended }) => ended)).toEqual(['done']);
    expect(ctx.history.steps('ack.after').map(({ id }) => id)).toEqual([running]);
    expect(ctx.history.events('shutdown.leftovers')).toEqual([]);
    expect(await ctx.sql.inbox()).toEqual([
      { consumer: ctx.name(), messageId: running, outcome: 'applied' },
    ]);
    await ctx.eventually('the others are back', async () => {
      return (await ctx.raw.ready({ at: 'source' })) === behind.length;
    });

    await ctx.startBus({ consumers });
    await ctx.settled(...behind);
    expect(await ctx.remaining()).toEqual([]);
    const ids = [running, ...behind].toSorted();
    expect((await ctx.sql.effects()).map(({ messageId }) => messageId).toSorted()).toEqual(ids);
    expect(await ctx.sql.attempts()).toEqual([]);
  },
};
