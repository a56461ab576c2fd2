import { expect } from 'vitest';
import type { BusSpec } from '../bus-spec.ts';
import type { ConformanceCase } from '../case.ts';
import type { CaseContext } from '../case-context.ts';
import type { Act } from '../contracts.ts';

const LIMIT = 4;
/** What the consumer may hold at most, running or not. */
const WINDOW = 3 * LIMIT;
const MESSAGES = 20;

/** Without an Inbox: handlers that stand side by side must not wait for the database. */
const SPEC: BusSpec = {
  consumers: [{ effects: false, options: { concurrency: LIMIT, inbox: { none: 'counts' } } }],
};

export const concurrencyLimit: ConformanceCase = {
  id: 'B08',
  title: 'as many handlers run at once as allowed, never more, and what is held stays bounded',
  async run(ctx) {
    const running = await ctx.startBus(SPEC);
    const ids = await published(ctx, ['wait']);
    await ctx.eventually('the window is full', async () => {
      return (await ctx.raw.ready({ at: 'source' })) === MESSAGES - WINDOW;
    });
    expect(ctx.history.runs()).toHaveLength(LIMIT);
    running.gate.open();
    await ended(ctx, ids);
    expect(mostAtOnce(ctx)).toBe(LIMIT);
    expect(await ctx.remaining()).toEqual([]);
  },
};

export const concurrencyOfRetries: ConformanceCase = {
  id: 'B08b',
  title: 'live messages and retries share one limit of handlers',
  async run(ctx) {
    await ctx.startBus(SPEC);
    const failing = await published(ctx, ['transient', 'slow:20']);
    await ctx.eventually('retries came', () => ctx.history.runs().some((run) => run.attempt === 2));
    const ids = [...failing, ...(await published(ctx, ['slow:20']))];
    await ended(ctx, ids);
    expect(mostAtOnce(ctx)).toBe(LIMIT);
    expect(await ctx.remaining()).toEqual([]);
  },
};

function published(ctx: CaseContext, script: readonly Act[]): Promise<readonly string[]> {
  return Promise.all(Array.from({ length: MESSAGES }, () => ctx.publish({ script })));
}

async function ended(ctx: CaseContext, ids: readonly string[]): Promise<void> {
  await ctx.eventually('all have ended', () => {
    const applied = new Set(ctx.history.events('message.applied').map((event) => event.messageId));
    return ids.every((id) => applied.has(id));
  });
}

function mostAtOnce({ history }: CaseContext): number {
  let now = 0;
  let most = 0;
  for (const { what } of history.entries) {
    if (what === 'run') now += 1;
    if (what === 'ran') now -= 1;
    most = Math.max(most, now);
  }
  return most;
}
