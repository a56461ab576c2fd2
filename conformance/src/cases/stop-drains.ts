import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

const BEHIND = 3;

export const stopDrains: ConformanceCase = {
  id: 'H01',
  title: 'close waits for handlers that run, takes nothing new and gives back what was not started',
  async run(ctx) {
    // PGlite has one connection: a second handler would wait for the first.
    const concurrency = ctx.profile.database === 'pglite' ? 1 : 2;
    const consumers = [{ options: { concurrency } }];
    const first = await ctx.startBus({ consumers });
    const running = await Promise.all(
      Array.from({ length: concurrency }, () => ctx.publish({ script: ['wait'] })),
    );
    await ctx.eventually('they run', () => ctx.history.runs().length === concurrency);
    const behind = await Promise.all(Array.from({ length: BEHIND }, () => ctx.publish()));
    await ctx.eventually('those behind are handed over', async () => {
      return (await ctx.raw.ready({ at: 'source' })) === 0;
    });

    let isClosed = false;
    const closing = first.close(20_000).then(() => {
      isClosed = true;
    });
    const late = await ctx.publish();
    await ctx.eventually('what was not started is back', async () => {
      return (await ctx.raw.ready({ at: 'source' })) === BEHIND + 1;
    });
    expect(isClosed).toBe(false);
    expect(ctx.history.steps('ack.before')).toEqual([]);
    first.gate.open();
    await closing;

    const mine = (step: 'commit.after' | 'ack.after'): string[] =>
      ctx.history.steps(step).map(({ id }) => id);
    expect(mine('commit.after').toSorted()).toEqual(running.toSorted());
    expect(mine('ack.after').toSorted()).toEqual(running.toSorted());
    expect(ctx.history.of('ran').map(({ ended }) => ended)).toEqual(running.map(() => 'done'));
    expect(ctx.history.events('shutdown.leftovers')).toEqual([]);
    expect(ctx.history.events('message.failed')).toEqual([]);
    expect(await ctx.sql.attempts()).toEqual([]);
    expect(await ctx.raw.ready({ at: 'source' })).toBe(BEHIND + 1);

    await ctx.startBus({ consumers });
    await ctx.settled(...behind, late);
    expect(await ctx.remaining()).toEqual([]);
    const ids = [...running, ...behind, late].toSorted();
    expect((await ctx.sql.effects()).map(({ messageId }) => messageId).toSorted()).toEqual(ids);
    expect(ctx.history.of('run').every(({ attempt }) => attempt === 1)).toBe(true);
  },
};
