import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import type { CaseContext } from '../case-context.ts';

const COUNT = 1_000;
/** So that some are at the broker and the others wait behind them. */
const IN_FLIGHT = 200;

export const publishAndClose: ConformanceCase = {
  id: 'A16',
  title: 'close waits for 1 000 publishes in flight; afterwards publishing is an error',
  timeoutMs: 60_000,
  async run(ctx) {
    const bus = await publisherOf(ctx);
    const publishing = publishAll(ctx, bus);
    await bus.bus.close();
    expect((await publishing).filter(Boolean)).toEqual([]);
    expect(await ctx.raw.ready({ at: 'source' })).toBe(COUNT);

    await bus.bus.close();
    const error = await ctx.publishFrom(bus, ctx.order());
    expect(error).toMatchObject({ code: 'MSG_PUBLISH_CLOSED', failure: 'transient' });
    const results = await bus.bus.publishMany([ctx.order()]);
    expect(results).toMatchObject([{ outcome: 'rejected', error: { code: 'MSG_PUBLISH_CLOSED' } }]);
    expect(await ctx.raw.ready({ at: 'source' })).toBe(COUNT);
  },
};

export const publishAndCloseUnanswered: ConformanceCase = {
  id: 'A16b',
  title: 'close without an answer settles 1 000 publishes: unknown, or not sent and not stored',
  timeoutMs: 60_000,
  async run(ctx) {
    const bus = await publisherOf(ctx);
    expect(await ctx.publishFrom(bus, ctx.order())).toBeUndefined();
    ctx.broker.line.hold();
    const publishing = publishAll(ctx, bus);
    await ctx.eventually('the broker has all that may be in flight', async () => {
      return (await ctx.raw.ready({ at: 'source' })) === IN_FLIGHT + 1;
    });
    const closing = bus.bus.close({ timeout: 300 });
    const errors = await publishing;
    ctx.broker.line.release();
    await closing;

    const codes = errors.map((error) => error?.code);
    const unknown = codes.filter((code) => code === 'MSG_PUBLISH_UNCONFIRMED');
    const notSent = codes.filter((code) => code === 'MSG_PUBLISH_CLOSED');
    expect([unknown.length, notSent.length]).toEqual([IN_FLIGHT, COUNT - IN_FLIGHT]);
    expect(await ctx.raw.ready({ at: 'source' })).toBe(IN_FLIGHT + 1);
  },
};

/** The consumer's queue exists; nobody reads it. */
async function publisherOf(ctx: CaseContext): ReturnType<CaseContext['startBus']> {
  const unread = await ctx.startBus();
  await unread.close();
  return await ctx.startBus({ consumers: [], maxInFlight: IN_FLIGHT }, { store: false });
}

function publishAll(
  ctx: CaseContext,
  bus: Awaited<ReturnType<CaseContext['startBus']>>,
): Promise<readonly Awaited<ReturnType<CaseContext['publishFrom']>>[]> {
  return Promise.all(Array.from({ length: COUNT }, () => ctx.publishFrom(bus, ctx.order())));
}
