import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const confirmLost: ConformanceCase = {
  id: 'A04',
  title: 'a lost confirm is unknown and not sent again; the same draft later has one effect',
  timeoutMs: 60_000,
  async run(ctx) {
    const unread = await ctx.startBus();
    await unread.close();
    const publisher = await ctx.startBus({ consumers: [] }, { store: false });
    expect(await ctx.publishFrom(publisher, ctx.order())).toBeUndefined();

    ctx.broker.line.hold();
    const draft = ctx.order({ count: 3 });
    const publishing = ctx.publishFrom(publisher, draft);
    await ctx.eventually('the broker has it', async () => {
      return (await ctx.raw.ready({ at: 'source' })) === 2;
    });
    ctx.broker.line.cut();
    expect(await publishing).toMatchObject({ code: 'MSG_PUBLISH_UNCONFIRMED' });
    expect(ctx.history.of('outcome').at(-1)).toMatchObject({ outcome: 'unknown' });

    ctx.broker.line.release();
    const opened = () =>
      ctx.history.of('event').filter(({ who, event }) => {
        return who === publisher.name && event.event === 'connection.opened';
      }).length;
    await ctx.eventually('the publisher is back', () => opened() === 2);
    // Over the new session: had anything been sent again, it would be there before this one.
    expect(await ctx.publishFrom(publisher, ctx.order())).toBeUndefined();
    expect(await ctx.raw.ready({ at: 'source' })).toBe(3);

    expect(await ctx.publishFrom(publisher, draft)).toBeUndefined();
    const copies = (await ctx.raw.dump({ at: 'source' })).filter(({ id }) => id === draft.id);
    expect(copies.map(({ body }) => Buffer.from(body))).toEqual(
      copies.map(() => Buffer.from(ctx.bodyOf(draft))),
    );
    expect(copies).toHaveLength(2);

    await ctx.startBus();
    await ctx.settled(...ctx.history.of('sent').map(({ id }) => id));
    await ctx.eventually('the copy was known', () =>
      ctx.history.events('message.duplicate', draft.id).at(0),
    );
    expect(await ctx.sql.effects(draft.id)).toHaveLength(1);
  },
};
