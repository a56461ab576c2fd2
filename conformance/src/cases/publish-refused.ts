import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

/** A broker may look at its limit a moment after it was passed. */
const MOST_TAKEN = 50;

export const publishRefused: ConformanceCase = {
  id: 'A05',
  title: 'a negative answer is rejected with its class, and nothing of it is stored',
  timeoutMs: 60_000,
  async run(ctx) {
    const unread = await ctx.startBus();
    await unread.close();
    const publisher = await ctx.startBus({ consumers: [] }, { store: false });
    await ctx.raw.full({ at: 'source' }, true);

    let taken = 0;
    let refused = ctx.order();
    let error = await ctx.publishFrom(publisher, refused);
    for (; error === undefined && taken < MOST_TAKEN; taken += 1) {
      refused = ctx.order();
      error = await ctx.publishFrom(publisher, refused);
    }
    expect(error).toMatchObject({ code: 'MSG_PUBLISH_THROTTLED', failure: 'transient' });
    expect(error?.message).toContain(refused.id);
    expect(ctx.history.of('outcome').at(-1)).toMatchObject({ outcome: 'rejected' });
    expect(await ctx.raw.ready({ at: 'source' })).toBe(taken);

    await ctx.raw.full({ at: 'source' }, false);
    ctx.history.note('there is room again');
    await ctx.eventually('it is taken again', async () => {
      return (await ctx.publishFrom(publisher, refused)) === undefined;
    });
    expect(await ctx.raw.ready({ at: 'source' })).toBe(taken + 1);
    expect(ctx.history.events('connection.lost')).toEqual([]);

    await ctx.startBus();
    await ctx.settled(refused.id);
    expect(await ctx.sql.effects(refused.id)).toHaveLength(1);
  },
};
