import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import type { CaseContext } from '../case-context.ts';

export const staleVersionsRunUnderNone: ConformanceCase = {
  id: 'F05',
  title: 'order none: versions are not compared, every message is applied',
  async run(ctx) {
    const ids = await published(ctx, 'none');
    expect(await ctx.sql.effects()).toHaveLength(ids.length);
    expect(ctx.history.events('message.stale')).toEqual([]);
  },
};

export const staleVersionsAreAcked: ConformanceCase = {
  id: 'F05b',
  title: 'order latest: a version up to the last one is acked as stale, without run or effect',
  async run(ctx) {
    const ids = await published(ctx, 'latest');
    const [, lower, equal, , lowest] = ids as [string, string, string, string, string];
    const stale = [lower, equal, lowest];
    for (const id of stale) {
      expect(ctx.history.runs(id)).toEqual([]);
      expect(ctx.history.events('message.stale', id)).toHaveLength(1);
      expect(await ctx.sql.inbox(id)).toMatchObject([{ outcome: 'stale' }]);
      expect(await ctx.sql.effects(id)).toEqual([]);
      expect(await ctx.sql.attempts(id)).toEqual([]);
    }
    for (const id of ids.filter((id) => !stale.includes(id))) {
      expect(await ctx.sql.inbox(id)).toMatchObject([{ outcome: 'applied' }]);
      expect(await ctx.sql.effects(id)).toHaveLength(1);
    }
  },
};

/** Aggregate and version, in the order of their arrival; no version: none is given. */
const MESSAGES = [
  ['o-1', 3],
  ['o-1', 2],
  ['o-1', 3],
  ['o-1', 9],
  ['o-1', 1],
  ['o-2', 1],
  ['o-1', undefined],
] as const;

async function published(ctx: CaseContext, order: 'none' | 'latest'): Promise<readonly string[]> {
  await ctx.startBus({ consumers: [{ options: { order } }] });
  const ids: string[] = [];
  for (const [aggregate, version] of MESSAGES) {
    const versioned = version === undefined ? {} : { version };
    const id = await ctx.publish({}, { aggregate: { type: 'order', id: aggregate, ...versioned } });
    await ctx.settled(id);
    ids.push(id);
  }
  expect(await ctx.remaining()).toEqual([]);
  expect(await ctx.raw.ready({ at: 'parking' })).toBe(0);
  expect(ctx.history.events('message.failed')).toEqual([]);
  return ids;
}
