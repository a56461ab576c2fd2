import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import type { CaseContext } from '../case-context.ts';

export const databaseOutage: ConformanceCase = {
  id: 'S02',
  title: 'a database outage longer than the budget passes every delay in order, then parks',
  needs: ['database'],
  timeoutMs: 60_000,
  async run(ctx) {
    const id = await publishedDuringOutage(ctx);
    const copy = await ctx.parked(id, ctx.name(), 30_000);
    await ctx.database.start();

    expect(copy.headers['ackord-park-reason']).toBe('attempts');
    expect(copy.headers['ackord-park-attempts']).toBe('4');
    expect(delaysOf(ctx, id)).toEqual(ctx.delaysMs);
    // One hand-over for each attempt: nothing loops while the database is away.
    expect(ctx.history.steps('decoded', id)).toHaveLength(4);
    expect(await ctx.remaining()).toEqual([]);
    expect(await ctx.sql.effects(id)).toEqual([]);
  },
};

export const databaseBack: ConformanceCase = {
  id: 'S02b',
  title: 'a database that is back before the budget ends: processed, one effect',
  needs: ['database'],
  timeoutMs: 60_000,
  async run(ctx) {
    const [, , longest] = ctx.delaysMs;
    const delays = [...ctx.delaysMs, longest, longest, longest, longest];
    const id = await publishedDuringOutage(ctx, { delays, maxAttempts: delays.length + 1 });
    await ctx.eventually('it failed once', () => ctx.history.events('message.retried', id).at(0));
    await ctx.database.start();

    await ctx.eventually(
      'it is applied',
      () => ctx.history.events('message.applied', id).at(0),
      30_000,
    );
    expect(await ctx.remaining()).toEqual([]);
    expect(await ctx.sql.effects(id)).toHaveLength(1);
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(0);
  },
};

async function publishedDuringOutage(
  ctx: CaseContext,
  retry: { readonly delays?: readonly number[]; readonly maxAttempts?: number } = {},
): Promise<string> {
  await ctx.startBus({ consumers: [{ options: { retry } }] });
  await ctx.database.stop();
  return await ctx.publish();
}

function delaysOf(ctx: CaseContext, id: string): readonly unknown[] {
  return ctx.history.events('message.retried', id).map(({ delayMs }) => delayMs);
}
