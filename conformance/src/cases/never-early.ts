import { Buffer } from 'node:buffer';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import { LADDER, latenessByDelay, quantile, tellLateness } from '../lateness.ts';

const MESSAGES = 20;

export const neverEarly: ConformanceCase = {
  id: 'D02',
  title: 'no handler starts before the due time that was told, over a restart of the consumer too',
  alone: true,
  async run(ctx) {
    const spec = { consumers: [{ options: { retry: { delays: LADDER } } }] };
    const first = await ctx.startBus(spec);
    const script = ['transient', 'transient', 'transient', 'ok'] as const;
    const ids = await Promise.all(Array.from({ length: MESSAGES }, () => ctx.publish({ script })));
    // Some wait for their second run by now, some for their third.
    await ctx.eventually('retries came back', () =>
      ctx.history.runs().some(({ attempt }) => attempt === 2),
    );
    await first.close();
    await ctx.startBus(spec);
    await ctx.eventually('all have ended', () => {
      return ctx.history.events('message.applied').length === ids.length;
    });

    const lateness = latenessByDelay(ctx);
    expect([...lateness.keys()]).toEqual(LADDER);
    for (const [delayMs, list] of lateness) {
      expect(list, `after ${delayMs} ms`).toHaveLength(MESSAGES);
      expect(quantile(list, 0), `after ${delayMs} ms`).toBeGreaterThanOrEqual(0);
    }
    tellLateness(ctx);
    expect(await ctx.remaining()).toEqual([]);
  },
};

/** A bucket that lets go too soon, or another service: the header of the message is believed. */
export const earlyArrivalWaits: ConformanceCase = {
  id: 'D02b',
  title: 'a copy that arrives before its due time is put off, without a run or an attempt',
  alone: true,
  async run(ctx) {
    await ctx.startBus();
    await ctx.raw.dump({ at: 'retry' });
    // One is held in hand, the other is sent round again.
    const longMs = Math.max(2_000, ...ctx.delaysMs);
    for (const earlyMs of [20, longMs]) {
      const draft = ctx.order();
      const dueAtMs = Date.now() + earlyMs;
      const headers = { 'ackord-attempt': '2', 'ackord-due': String(dueAtMs) };
      const early = { id: draft.id, body: Buffer.from(ctx.bodyOf(draft)), headers };
      // Of a foreign copy the suite saw no failure before.
      ctx.limits.skip.I9 = 'the copy was made by the case';
      await ctx.publishRaw(early, { at: 'retry' });
      await ctx.settled(draft.id);
      const [run, ...others] = ctx.history.runs(draft.id);
      expect(others).toEqual([]);
      expect(run?.atMs).toBeGreaterThanOrEqual(dueAtMs);
      expect(run?.attempt).toBe(2);
      expect(await ctx.sql.attempts(draft.id)).toEqual([]);
      const deferred = ctx.history.events('message.deferred', draft.id);
      if (earlyMs === longMs) expect(deferred.length).toBeGreaterThan(0);
    }
    expect(await ctx.remaining()).toEqual([]);
  },
};
