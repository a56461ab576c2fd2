import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const killBeforeAck: ConformanceCase = {
  id: 'G04',
  title: 'killed between COMMIT and ack: comes again without effect, its outbox row is still sent',
  timeoutMs: 60_000,
  async run(ctx) {
    const victim = await ctx.startProcess({ dieAt: 'ack.before' });
    const id = await ctx.publish({ sku: 'book', count: 3, script: ['publish'] });
    await victim.died;
    expect(ctx.history.steps('ack.after', id)).toEqual([]);
    expect(await ctx.sql.effects(id)).toHaveLength(1);
    // No relay ran so far.
    const [row] = await ctx.sql.outbox();
    const announced = row?.messageId ?? '';
    expect(row?.state).toBe('ready');

    const ledger = { name: 'ledger', reads: 'inventory' } as const;
    await ctx.startBus({ relay: true, consumers: [{}, ledger] });
    await ctx.eventually('the message came again and was known', () =>
      ctx.history.events('message.duplicate', id).at(0),
    );
    await ctx.settled(announced);
    await ctx.eventually('its row is deleted', async () => (await ctx.sql.outbox()).length === 0);
    expect(await ctx.remaining()).toEqual([]);

    expect(ctx.history.runs(id)).toHaveLength(1);
    expect(await ctx.sql.effects(id)).toHaveLength(1);
    expect(await ctx.sql.reserved('book')).toBe(1 + 3);
    expect(await ctx.sql.effects(announced)).toMatchObject([{ consumer: ctx.name('ledger') }]);
    expect(await ctx.sql.inbox()).toHaveLength(2);
  },
};
