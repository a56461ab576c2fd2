import { on } from '@ackord/core';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import type { CaseContext } from '../case-context.ts';

export const retryStaysWithItsConsumer: ConformanceCase = {
  id: 'C06',
  title: 'retries and parking of one consumer do not reach another of the same destination',
  async run(ctx) {
    await ctx.startBus({ consumers: [{ name: 'reserve' }] });
    await ctx.startBus({ consumers: [{ name: 'audit', handlers: [accepting(ctx)] }] });
    const retried = await ctx.publish({ script: ['transient', 'unknown', 'ok'] });
    const parked = await ctx.publish({ script: ['transient', 'permanent'] });
    await ctx.eventually('the retries have ended', async () => {
      return (await ctx.sql.inbox(retried)).length === 2;
    });
    await ctx.parked(parked);
    expect(await ctx.remaining()).toEqual([]);

    const audit = ctx.name('audit');
    const received = (id: string, consumer: string) =>
      ctx.history.steps('received', id).filter((step) => step.consumer === consumer);
    expect(received(retried, ctx.name())).toHaveLength(3);
    expect(received(parked, ctx.name())).toHaveLength(2);
    for (const id of [retried, parked]) {
      expect(received(id, audit)).toHaveLength(1);
      const attempts = await ctx.sql.attempts(id);
      expect(attempts.filter(({ consumer }) => consumer === audit)).toEqual([]);
    }
    expect(await ctx.raw.ready({ at: 'parking', consumer: audit })).toBe(0);
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(1);
    const inbox = await ctx.sql.inbox(parked);
    expect(inbox.map(({ consumer }) => consumer)).toEqual([audit]);
  },
};

/** Accepts what the script of the message makes the other consumer fail. */
function accepting(ctx: CaseContext) {
  return on(ctx.contracts.OrderCreated, () => {});
}
