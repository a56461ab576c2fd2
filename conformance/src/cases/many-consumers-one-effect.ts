import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import type { CaseContext } from '../case-context.ts';

const BUSES = 5;
/** 50 handlers at once. */
const CONCURRENCY = 10;
const AT_ONCE = 500;

export const manyConsumersOneEffect: ConformanceCase = {
  id: 'B17',
  title:
    '10,000 messages (2,000 on the one connection of PGlite), 50 consumers, connections cut once: one effect each',
  // The load would hold up every case beside it.
  alone: true,
  timeoutMs: 240_000,
  async run(ctx) {
    const messages = ctx.profile.database === 'pglite' ? 2_000 : 10_000;
    const spec = { consumers: [{ options: { concurrency: CONCURRENCY } }] };
    const buses = await Promise.all(Array.from({ length: BUSES }, () => ctx.startBus(spec)));
    const startMs = Date.now();
    const ids = await publishAll(ctx, messages);
    // Every publish is confirmed by now, most of them wait to be consumed.
    ctx.broker.line.cut();
    const allAreProcessed = async (): Promise<boolean> => (await processed(ctx)) === messages;
    await ctx.eventually('all are processed', allAreProcessed, 200_000);
    const tookMs = Date.now() - startMs;

    expect(await ctx.remaining()).toEqual([]);
    const effects = await ctx.sql.effects();
    expect(effects).toHaveLength(messages);
    expect(new Set(effects.map(({ messageId }) => messageId))).toEqual(new Set(ids));
    const lost = ctx.history
      .of('event')
      .filter(({ event }) => event.event === 'connection.lost')
      .map(({ who }) => who);
    expect(lost).toEqual(expect.arrayContaining(buses.map(({ name }) => name)));
    ctx.figures['messages'] = messages;
    ctx.figures['handlers at once'] = BUSES * CONCURRENCY;
    ctx.figures['published and processed per second'] = Math.round((messages * 1_000) / tookMs);
    ctx.figures['deliveries beyond the first'] = ctx.history.steps('received').length - messages;
  },
};

async function publishAll(ctx: CaseContext, messages: number): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length < messages) {
    // Many articles, or every transaction would wait for the same row.
    const batch = Array.from({ length: AT_ONCE }, (_, n) => ctx.publish({ sku: `book-${n}` }));
    ids.push(...(await Promise.all(batch)));
  }
  return ids;
}

async function processed(ctx: CaseContext): Promise<number | undefined> {
  const [row] = await ctx.sql.sql<{ count: number }>(
    'select count(*)::int count from {schema}.processed_messages',
  );
  return row?.count;
}
