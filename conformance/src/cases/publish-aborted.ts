import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const publishAborted: ConformanceCase = {
  id: 'A15',
  title: 'an abort before anything was sent sends nothing; afterwards the outcome is unknown',
  timeoutMs: 60_000,
  async run(ctx) {
    const unread = await ctx.startBus();
    await unread.close();
    const publisher = await ctx.startBus({ consumers: [] }, { store: false });
    expect(await ctx.publishFrom(publisher, ctx.order())).toBeUndefined();
    const { line } = ctx.broker;

    const early = await ctx.publishFrom(publisher, ctx.order(), { signal: AbortSignal.abort() });
    expect(early).toMatchObject({ code: 'MSG_PUBLISH_ABORTED', failure: 'transient' });

    // It waits for a connection when it is aborted.
    line.refuse();
    line.cut();
    await ctx.eventually('the line is cut', () => ctx.history.events('connection.lost').at(0));
    const waiting = new AbortController();
    const queued = ctx.publishFrom(publisher, ctx.order(), { signal: waiting.signal });
    setImmediate(() => waiting.abort());
    expect(await queued).toMatchObject({ code: 'MSG_PUBLISH_ABORTED' });
    await line.accept();
    expect(await ctx.publishFrom(publisher, ctx.order())).toBeUndefined();
    expect(await ctx.raw.ready({ at: 'source' })).toBe(2);

    // Too late: the broker has it, and the answer is on its way.
    line.hold();
    const late = new AbortController();
    const draft = ctx.order();
    const sent = ctx.publishFrom(publisher, draft, { signal: late.signal });
    await ctx.eventually('the broker has it', async () => {
      return (await ctx.raw.ready({ at: 'source' })) === 3;
    });
    late.abort();
    expect(await sent).toMatchObject({ code: 'MSG_PUBLISH_UNCONFIRMED' });
    line.release();
    expect(await ctx.publishFrom(publisher, ctx.order())).toBeUndefined();
    const stored = await ctx.raw.dump({ at: 'source' });
    expect(stored).toHaveLength(4);
    expect(stored.map(({ id }) => id)).toContain(draft.id);
  },
};
