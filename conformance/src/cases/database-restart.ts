import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

const MESSAGES = 3;

export const databaseRestart: ConformanceCase = {
  id: 'G13',
  title: 'a database that restarts under a running handler: transient, no loss, one effect',
  needs: ['database'],
  timeoutMs: 60_000,
  async run(ctx) {
    const [, , longest] = ctx.delaysMs;
    const delays = [...ctx.delaysMs, longest, longest, longest, longest];
    const running = await ctx.startBus({
      consumers: [{ options: { retry: { delays, maxAttempts: delays.length + 1 } } }],
    });
    const before = await ctx.publish({ sku: 'book' });
    await ctx.settled(before);
    const held = await ctx.publish({ sku: 'book', script: ['wait', 'ok'] });
    await ctx.eventually('its handler runs in a transaction', () => ctx.history.runs(held).at(0));
    const rest = await Promise.all(
      Array.from({ length: MESSAGES }, () => ctx.publish({ sku: 'pen', script: ['wait', 'ok'] })),
    );

    await ctx.database.stop();
    running.gate.open();
    const failed = await ctx.eventually('the run of the handler failed', () =>
      ctx.history.events('message.failed', held).at(0),
    );
    expect(['transient', 'unknown']).toContain(failed?.['failure']);
    await ctx.database.start();

    for (const id of [held, ...rest]) {
      await ctx.eventually(
        `${id} is applied`,
        () => ctx.history.events('message.applied', id).at(0),
        30_000,
      );
    }
    expect(await ctx.remaining()).toEqual([]);
    for (const { failure } of ctx.history.events('message.failed')) {
      expect(['transient', 'unknown']).toContain(failure);
    }
    for (const id of [before, held, ...rest]) expect(await ctx.sql.effects(id)).toHaveLength(1);
    expect(await ctx.sql.reserved('book')).toBe(2);
    expect(await ctx.sql.reserved('pen')).toBe(MESSAGES);
    expect(ctx.history.runs(held).length).toBeGreaterThanOrEqual(2);
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(0);
  },
};
