import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

const MAX_AGE_MS = 300;

export const oldBacklogRunsOnce: ConformanceCase = {
  id: 'D10',
  title: 'a backlog older than maxAge gets its first run; past expiresAt it is settled without one',
  async run(ctx) {
    const spec = { consumers: [{ options: { retry: { maxAge: MAX_AGE_MS } } }] };
    const before = await ctx.startBus(spec);
    await before.close();
    const expiresAt = new Date(Date.now() + MAX_AGE_MS);
    const good = [await ctx.publish(), await ctx.publish(), await ctx.publish()];
    const failing = await ctx.publish({ script: ['transient', 'ok'] });
    const expired = await ctx.publish({}, { expiresAt });
    const publishedAtMs = Date.now();
    await ctx.eventually('the backlog is too old', () => Date.now() > publishedAtMs + MAX_AGE_MS);

    await ctx.startBus(spec);
    await ctx.settled(...good, expired);
    const copy = await ctx.parked(failing);
    expect(copy.headers['ackord-park-reason']).toBe('age');
    expect(copy.headers['ackord-park-attempts']).toBe('1');
    expect(await ctx.remaining()).toEqual([]);

    for (const id of good) {
      expect(ctx.history.runs(id)).toHaveLength(1);
      expect(await ctx.sql.effects(id)).toHaveLength(1);
    }
    expect(ctx.history.runs(failing)).toHaveLength(1);
    expect(ctx.history.runs(expired)).toEqual([]);
    expect(ctx.history.events('message.expired', expired)).toHaveLength(1);
    expect(await ctx.sql.inbox(expired)).toMatchObject([{ outcome: 'expired' }]);
    expect(await ctx.sql.effects(expired)).toEqual([]);
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(1);
  },
};
