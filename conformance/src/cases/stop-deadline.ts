import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import type { CaseContext } from '../case-context.ts';

const DEADLINE_MS = 200;
/** Deadline, grace of one second for handlers, settling and closing on a busy machine. */
const BOUND_MS = 5_000;

export const stopDeadline: ConformanceCase = {
  id: 'H02',
  title: 'past the deadline of close handlers are aborted, their messages go back as they were',
  run: (ctx) => closedOver(ctx, 'wait'),
};

export const stopDeadlineIgnored: ConformanceCase = {
  id: 'H02b',
  title: 'a handler that ignores its abort does not keep close waiting, and has no effect later',
  run: (ctx) => closedOver(ctx, 'hang'),
};

async function closedOver(ctx: CaseContext, act: 'wait' | 'hang'): Promise<void> {
  const first = await ctx.startBus();
  const id = await ctx.publish({ sku: 'book', count: 3, script: [act] });
  await ctx.eventually('its handler runs', () => ctx.history.runs(id).at(0));
  const startMs = Date.now();
  await first.close(DEADLINE_MS);
  const tookMs = Date.now() - startMs;
  expect(tookMs).toBeGreaterThanOrEqual(DEADLINE_MS);
  expect(tookMs).toBeLessThan(BOUND_MS);
  expect(ctx.history.events('shutdown.leftovers')).toMatchObject([
    { consumer: ctx.name(), running: 1 },
  ]);
  // Back at the broker, and nothing of the run is left.
  await ctx.eventually('it is back', async () => (await ctx.raw.ready({ at: 'source' })) === 1);
  if (act === 'hang') {
    expect(ctx.history.of('ran')).toEqual([]);
    first.gate.open();
  }
  const ran = await ctx.eventually('the handler ended', () => ctx.history.of('ran').at(0));
  if (act === 'wait') expect(ran?.ended).toContain('shutdown deadline');
  expect(await ctx.sql.inbox()).toEqual([]);
  expect(await ctx.sql.effects()).toEqual([]);
  expect(await ctx.sql.attempts()).toEqual([]);
  expect(ctx.history.events('message.failed')).toEqual([]);
  expect(ctx.history.steps('ack.before')).toEqual([]);

  const second = await ctx.startBus();
  second.gate.open();
  await ctx.settled(id);
  expect(await ctx.remaining()).toEqual([]);
  expect(ctx.history.runs(id).map(({ attempt }) => attempt)).toEqual([1, 1]);
  expect(await ctx.sql.effects(id)).toMatchObject([{ attempt: 1 }]);
  expect(await ctx.sql.reserved('book')).toBe(3);
  expect(await ctx.raw.ready({ at: 'parking' })).toBe(0);
}
