import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const confirmHeldBack: ConformanceCase = {
  id: 'A03',
  title:
    'a publish stays pending while the confirm is held back, though the broker has the message',
  async run(ctx) {
    const bus = await ctx.startBus();
    await bus.close();
    const publisher = await ctx.startBus({ consumers: [] }, { store: false });
    // Opens what is opened for a first publish.
    expect(await ctx.publishFrom(publisher, ctx.order())).toBeUndefined();

    ctx.broker.line.hold();
    const draft = ctx.order();
    let isSettled = false;
    const publishing = ctx.publishFrom(publisher, draft).finally(() => {
      isSettled = true;
    });
    await ctx.eventually('the broker has it', async () => {
      return (await ctx.raw.ready({ at: 'source' })) === 2;
    });
    expect(isSettled).toBe(false);
    ctx.history.note('the confirm is let go');
    ctx.broker.line.release();
    expect(await publishing).toBeUndefined();
    const stored = await ctx.raw.dump({ at: 'source' });
    expect(stored.map(({ id }) => id)).toContain(draft.id);
  },
};
