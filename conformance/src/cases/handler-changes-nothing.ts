import { Buffer } from 'node:buffer';
import { type Message, on, permanent, transient } from '@ackord/core';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import type { CaseContext } from '../case-context.ts';
import type { OrderData } from '../contracts.ts';

const AGGREGATE = { type: 'order', id: '42', version: 1 } as const;

export const handlerChangesNothing: ConformanceCase = {
  id: 'B14',
  title: 'a handler that changes its message changes neither the redelivery nor the parking copy',
  async run(ctx) {
    const seen = await startChanging(ctx, (run) => {
      // A deadlock is repeated at once inside the slot, the others come as copies.
      if (run === 1) throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
      throw run === 2 ? transient('to a retry') : permanent('to the parking place');
    });
    const draft = ctx.order({ pad: 'body' }, { aggregate: AGGREGATE });
    const publisher = await ctx.startBus({ consumers: [] }, { store: false });
    expect(await ctx.publishFrom(publisher, draft)).toBeUndefined();

    const copy = await ctx.parked(draft.id);
    expect(seen).toHaveLength(3);
    expect(seen[0]).toContain('"pad":"body"');
    expect(new Set(seen).size).toBe(1);
    expect(Buffer.from(copy.body)).toEqual(Buffer.from(ctx.bodyOf(draft)));
    expect(copy.type).toBe('order.created');
    expect(copy.headers).toMatchObject({
      'ackord-park-id': draft.id,
      'ackord-park-correlation-id': draft.correlationId ?? draft.id,
      'ackord-park-producer': 'suite',
      'ackord-park-attempts': '2',
    });
    expect(await ctx.remaining()).toEqual([]);
  },
};

export const handlerChangesNoVersion: ConformanceCase = {
  id: 'B14b',
  title: 'a handler that changes the aggregate of its message does not change what is recorded',
  async run(ctx) {
    await startChanging(ctx, () => {}, 'latest');
    const first = await ctx.publish({}, { aggregate: AGGREGATE });
    await ctx.settled(first);
    const second = await ctx.publish({}, { aggregate: { ...AGGREGATE, version: 2 } });
    await ctx.settled(second);
    expect(await ctx.remaining()).toEqual([]);
    const outcomes = (await ctx.sql.inbox()).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['applied', 'applied']);
  },
};

/** Resolves to what each run saw, as JSON. */
async function startChanging(
  ctx: CaseContext,
  end: (run: number) => void,
  order: 'none' | 'latest' = 'none',
): Promise<readonly string[]> {
  const seen: string[] = [];
  const handler = on(ctx.contracts.OrderCreated, async (message: Message<OrderData>) => {
    seen.push(JSON.stringify(message));
    Object.assign(message.data, { sku: 'changed', count: 99, pad: 'changed' });
    Object.assign(message.aggregate ?? {}, { id: 'changed', version: 1_000 });
    Object.assign(message, { id: 'changed', correlationId: 'changed', producer: 'changed' });
    end(seen.length);
  });
  await ctx.startBus({ consumers: [{ handlers: [handler], options: { order } }] });
  return seen;
}
