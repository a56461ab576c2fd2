import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import { DriverReader } from '../driver-reader.ts';

const MESSAGES = 6;

export const cancelSpendsNothing: ConformanceCase = {
  id: 'B21',
  title: 'a consumer that is cancelled spends no attempt: what it held comes again as it was',
  async run(ctx) {
    const consumers = [{ options: { concurrency: 1 } }];
    const first = await ctx.startBus({ consumers });
    const held = await ctx.publish({ script: ['wait'] });
    await ctx.eventually('its handler runs', () => ctx.history.runs(held).at(0));
    const rest = await Promise.all(Array.from({ length: MESSAGES - 1 }, () => ctx.publish()));
    const ids = [held, ...rest].toSorted();
    // Shorter than the run: it is aborted, what was handed over beside it was never started.
    await first.close(50);
    expect(await ctx.sql.inbox()).toEqual([]);
    expect(await ctx.sql.attempts()).toEqual([]);
    expect(ctx.history.steps('ack.before')).toEqual([]);
    expect(ctx.history.events('message.failed')).toEqual([]);

    await using reader = await DriverReader.open(ctx);
    await ctx.eventually('all came again', () => reader.deliveries.length >= MESSAGES);
    expect(reader.ids.toSorted()).toEqual(ids);
    for (const { headers, nativeCount } of reader.deliveries) {
      expect(headers['ackord-attempt'] ?? '1').toBe('1');
      if (reader.session.capabilities.nativeCount === 'failures') expect(nativeCount).toBe(1);
    }
    await reader.session.close();

    const second = await ctx.startBus({ consumers });
    second.gate.open();
    await ctx.settled(...ids);
    expect(await ctx.remaining()).toEqual([]);
    const effects = await ctx.sql.effects();
    expect(effects.map(({ messageId }) => messageId).toSorted()).toEqual(ids);
    expect(new Set(effects.map(({ attempt }) => attempt))).toEqual(new Set([1]));
    expect(await ctx.sql.attempts()).toEqual([]);
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(0);
  },
};
