import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

const MAX_AGE_MS = 600_000;
/** Longer than the case. */
const LONG_MS = 40_000;

export const tooOldParks: ConformanceCase = {
  id: 'D09',
  title: 'a retry that would come back older than maxAge is parked at the decision, not delayed',
  async run(ctx) {
    const [shortMs] = ctx.delaysMs;
    const retry = { delays: [shortMs, LONG_MS], maxAge: MAX_AGE_MS };
    await ctx.startBus({ consumers: [{ options: { retry } }] });
    // Young enough for the short delay, too old when the long one would be over.
    const occurredAt = new Date(Date.now() - MAX_AGE_MS + LONG_MS / 2);
    const old = [
      await ctx.publish({ script: ['transient', 'transient', 'ok'] }, { occurredAt }),
      await ctx.publish({ script: ['transient', 'unknown', 'ok'] }, { occurredAt }),
    ];
    const young = await ctx.publish({ script: ['transient', 'transient', 'ok'] });
    for (const id of old) {
      const { headers } = await ctx.parked(id);
      expect(headers['ackord-park-reason']).toBe('age');
      expect(headers['ackord-park-attempts']).toBe('2');
    }
    const long = { at: 'bucket', delayMs: LONG_MS } as const;
    await ctx.eventually('the young one waits', () => ctx.raw.ready(long));
    const left = await ctx.remaining();
    expect(left.map(({ id }) => id)).toEqual([young]);

    for (const id of old) {
      expect(ctx.history.runs(id)).toHaveLength(2);
      expect(ctx.history.steps('retry.copy.before', id)).toHaveLength(1);
      expect(ctx.history.events('message.retried', id)).toMatchObject([{ delayMs: shortMs }]);
      expect(await ctx.sql.effects(id)).toEqual([]);
    }
    expect(ctx.history.runs(young)).toHaveLength(2);
  },
};
