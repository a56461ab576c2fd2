import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import type { CaseContext } from '../case-context.ts';

/** Long enough for v8 to be applied meanwhile on a busy machine. */
const DELAY_MS = 1_500;

export const retryReordersUnderNone: ConformanceCase = {
  id: 'F04',
  title: 'order none: v7 goes to retry, v8 is applied at once, v7 after it',
  async run(ctx) {
    const [v7, v8] = await overtaken(ctx, 'none');
    const effects = await ctx.sql.effects();
    expect(effects.map(({ aggregateVersion }) => aggregateVersion)).toEqual([8, 7]);
    expect(ctx.history.runs(v7)).toHaveLength(2);
    expect(ctx.history.runs(v8)).toHaveLength(1);
    expect(ctx.history.events('message.stale')).toEqual([]);
  },
};

export const retryIsStaleUnderLatest: ConformanceCase = {
  id: 'F04b',
  title: 'order latest: v7 goes to retry, v8 is applied, v7 comes back stale: v8 stands',
  async run(ctx) {
    const [v7, v8] = await overtaken(ctx, 'latest');
    const effects = await ctx.sql.effects();
    expect(effects.map(({ aggregateVersion }) => aggregateVersion)).toEqual([8]);
    expect(ctx.history.runs(v7)).toHaveLength(1);
    expect(ctx.history.events('message.stale', v7)).toHaveLength(1);
    expect(await ctx.sql.inbox(v7)).toMatchObject([{ outcome: 'stale' }]);
    expect(await ctx.sql.inbox(v8)).toMatchObject([{ outcome: 'applied' }]);
  },
};

async function overtaken(
  ctx: CaseContext,
  order: 'none' | 'latest',
): Promise<readonly [string, string]> {
  await ctx.startBus({ consumers: [{ options: { order, retry: { delays: [DELAY_MS] } } }] });
  const version = (version: number) => ({ aggregate: { type: 'order', id: 'o-1', version } });
  const v7 = await ctx.publish({ script: ['transient', 'ok'] }, version(7));
  await ctx.eventually('v7 waits for its retry', () =>
    ctx.history.events('message.retried', v7).at(0),
  );
  const v8 = await ctx.publish({}, version(8));
  await ctx.settled(v8);
  expect(await ctx.sql.inbox(v7)).toEqual([]);
  await ctx.settled(v7);
  expect(await ctx.remaining()).toEqual([]);
  expect(await ctx.raw.ready({ at: 'parking' })).toBe(0);
  return [v7, v8];
}
