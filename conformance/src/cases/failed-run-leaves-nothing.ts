import { type HandlerContext, type Message, on, permanent } from '@ackord/core';
import type { SqlTx } from '@ackord/core/store';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import type { CaseContext } from '../case-context.ts';
import type { Act, OrderData } from '../contracts.ts';

const SCRIPTS: readonly (readonly Act[])[] = [
  ['permanent'],
  ['transient', 'permanent'],
  ['unknown', 'permanent'],
];

export const failedRunLeavesNothing: ConformanceCase = {
  id: 'G03',
  title: 'a handler that fails leaves no Inbox row and no effect, whatever it failed with',
  async run(ctx) {
    await ctx.startBus();
    // Every run writes its effect before it fails.
    const ids = await Promise.all(
      SCRIPTS.map((script) => ctx.publish({ sku: 'book', count: 3, script })),
    );
    for (const id of ids) await ctx.parked(id);
    expect(await ctx.remaining()).toEqual([]);

    for (const [at, id] of ids.entries()) {
      expect(ctx.history.runs(id)).toHaveLength(SCRIPTS[at]?.length ?? 0);
    }
    expect(await ctx.sql.inbox()).toEqual([]);
    expect(await ctx.sql.effects()).toEqual([]);
    expect(await ctx.sql.reserved('book')).toBe(0);
  },
};

export const failedRunSendsNothing: ConformanceCase = {
  id: 'G03b',
  title: 'what a handler added to the outbox before it failed is never sent',
  async run(ctx) {
    await ctx.startBus({
      relay: true,
      consumers: [
        { name: 'announce', handlers: [on(ctx.contracts.OrderCreated, announcing(ctx))] },
        { name: 'ledger', reads: 'inventory' },
      ],
    });
    const failed = await ctx.publish({ script: ['permanent'] });
    await ctx.parked(failed, ctx.name('announce'));
    const done = await ctx.publish({ script: ['ok'] });
    await ctx.eventually('the announcement of the other arrived', () => {
      return ctx.history.events('message.applied').some((at) => at.consumer === ctx.name('ledger'));
    });
    await ctx.eventually('its row is deleted', async () => (await ctx.sql.outbox()).length === 0);
    expect(await ctx.remaining()).toEqual([]);

    const sent = new Set(ctx.history.steps('outbox.publish.sent').map(({ id }) => id));
    expect(sent.size).toBe(1);
    const effectsAt = await ctx.sql.effects();
    const own = effectsAt.filter(({ consumer }) => consumer === ctx.name('announce'));
    expect(own.map(({ messageId }) => messageId)).toEqual([done]);
    expect(await ctx.sql.inbox(failed)).toEqual([]);
  },
};

/** Writes everything, then fails if the message says so. */
function announcing({ database, contracts }: CaseContext) {
  return async (
    { id, data }: Message<OrderData>,
    { tx, outbox, consumer, attempt }: HandlerContext<SqlTx>,
  ): Promise<void> => {
    await tx.query(
      `insert into "${database.schema}".effects (consumer, message_id, attempt, sku, count)
       values ($1, $2, $3, 'announced', 1)`,
      [consumer, id, attempt],
    );
    await outbox.add(contracts.ReservationMade({ sku: data.sku, orderId: id }));
    if (data.script[0] === 'permanent') throw permanent('after everything was written');
  };
}
