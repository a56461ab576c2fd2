import { type Message, on } from '@ackord/core';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import type { CaseContext } from '../case-context.ts';
import type { OrderData } from '../contracts.ts';

export const publishRoundTrip: ConformanceCase = {
  id: 'A01',
  title: '1 and 100 messages arrive with every field and byte as they were published',
  timeoutMs: 60_000,
  async run(ctx) {
    const seen = new Map<string, Message<OrderData>>();
    const unread = await ctx.startBus({ consumers: [{ name: 'unread' }] });
    await unread.close();
    const handlers = [
      on(ctx.contracts.OrderCreated, (message: Message<OrderData>) => {
        seen.set(message.id, message);
      }),
    ];
    const bus = await ctx.startBus({ consumers: [{ handlers }] });

    const [first, ...rest] = Array.from({ length: 101 }, (_, n) => order(ctx, n));
    if (first === undefined) throw new Error('there is a first one');
    expect(await ctx.publishFrom(bus, first)).toBeUndefined();
    await ctx.settled(first.id);
    const results = await ctx.publishMany(bus, rest);
    expect(results).toEqual(rest.map(({ id }) => ({ id, outcome: 'confirmed' })));
    await ctx.settled(...rest.map(({ id }) => id));

    const stored = await ctx.raw.dump({ at: 'source', consumer: ctx.name('unread') });
    expect(stored.map(({ id }) => id)).toEqual([first, ...rest].map(({ id }) => id));
    for (const [at, draft] of [first, ...rest].entries()) {
      expect(Buffer.from(stored[at]?.body ?? [])).toEqual(Buffer.from(ctx.bodyOf(draft)));
      expect(stored[at]).toMatchObject({ id: draft.id, type: 'order.created' });
      const { contract, expiresAt: _, ...same } = draft;
      expect(seen.get(draft.id)).toEqual({
        ...same,
        type: contract.type,
        schemaVersion: contract.version,
        producer: 'suite',
      });
    }
  },
};

function order(ctx: CaseContext, n: number): ReturnType<CaseContext['order']> {
  return ctx.order(
    { sku: `sku-${n} ✓ "quoted" \u{1F4E6}`, count: n + 1, pad: 'x'.repeat(n) },
    {
      aggregate: { type: 'order', id: `order-${n}`, version: n },
      occurredAt: new Date(Date.UTC(2026, 0, 1, 0, 0, n)),
      expiresAt: new Date(Date.now() + 3_600_000),
      correlationId: `correlation-${n}`,
      causationId: `causation-${n}`,
    },
  );
}
