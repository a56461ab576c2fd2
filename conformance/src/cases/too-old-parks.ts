import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

const MAX_AGE_MS = 600_000;

export const tooOldParks: ConformanceCase = {
  id: 'D09',
  title: 'a retry that would come back older than maxAge is parked at the decision, not delayed',
  async run(ctx) {
    const [first] = ctx.delaysMs;
    await ctx.startBus({ consumers: [{ options: { retry: { maxAge: MAX_AGE_MS } } }] });
    // Young enough now, too old when the delay is over.
    const occurredAt = new Date(Date.now() - MAX_AGE_MS + first / 2);
    const old = await ctx.publish({ script: ['transient', 'ok'] }, { occurredAt });
    const unknown = await ctx.publish({ script: ['unknown', 'ok'] }, { occurredAt });
    const young = await ctx.publish({ script: ['transient', 'ok'] });
    for (const id of [old, unknown]) {
      const copy = await ctx.parked(id);
      expect(copy.headers['ackord-park-reason']).toBe('age');
      expect(copy.headers['ackord-park-attempts']).toBe('1');
    }
    await ctx.settled(young);
    expect(await ctx.remaining()).toEqual([]);

    for (const id of [old, unknown]) {
      expect(ctx.history.runs(id)).toHaveLength(1);
      expect(ctx.history.steps('retry.copy.before', id)).toEqual([]);
      expect(ctx.history.events('message.retried', id)).toEqual([]);
      expect(await ctx.sql.effects(id)).toEqual([]);
    }
    expect(ctx.history.runs(young)).toHaveLength(2);
  },
};
