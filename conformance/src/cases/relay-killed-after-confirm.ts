import { Buffer } from 'node:buffer';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

const LEASE = '1s';

export const relayKilledAfterConfirm: ConformanceCase = {
  id: 'G06',
  title: 'a relay killed after a confirm, before the delete: sent again with the same id and bytes',
  timeoutMs: 60_000,
  async run(ctx) {
    // The queue of the consumer is to keep what is sent.
    await (await ctx.startBus()).close();
    const writer = await ctx.startBus({ consumers: [] });
    const drafts = [ctx.order({ sku: 'book' }), ctx.order({ sku: 'pen' }), ctx.order()];
    const ids = drafts.map(({ id }) => id);
    const [first = ''] = ids;
    const relay = { consumers: [], relay: true, relayLease: LEASE };
    const victim = await ctx.startProcess({ ...relay, dieAt: 'outbox.confirmed', on: first });
    await ctx.writeOutbox(writer, drafts);
    await victim.died;
    const kept = (await ctx.sql.outbox()).map(({ messageId }) => messageId);
    expect(kept).toContain(first);
    const before = await ctx.raw.dump({ at: 'source' });
    expect(before.filter(({ id }) => id === first)).toHaveLength(1);

    await ctx.startBus(relay);
    await ctx.eventually('all rows are deleted', async () => {
      return (await ctx.sql.outbox()).length === 0;
    });
    const copies = await ctx.raw.dump({ at: 'source' });
    expect(new Set(copies.map(({ id }) => id))).toEqual(new Set(ids));
    for (const draft of drafts) {
      const own = copies.filter(({ id }) => id === draft.id);
      // Duplicates are bounded by what was in flight.
      expect(own.length).toBe(kept.includes(draft.id) && isIn(before, draft.id) ? 2 : 1);
      for (const { body } of own) {
        expect(Buffer.from(body)).toEqual(Buffer.from(ctx.bodyOf(draft)));
      }
    }
    await ctx.startBus();
    await ctx.settled(...ids);
    await ctx.eventually('every copy is done', () => {
      return ctx.history.steps('ack.after').length >= copies.length;
    });
    expect(await ctx.remaining()).toEqual([]);
    for (const id of ids) expect(await ctx.sql.effects(id)).toHaveLength(1);
    expect(ctx.history.events('message.duplicate', first)).toHaveLength(1);
  },
};

function isIn(messages: readonly { readonly id?: string }[], wanted: string): boolean {
  return messages.some(({ id }) => id === wanted);
}
