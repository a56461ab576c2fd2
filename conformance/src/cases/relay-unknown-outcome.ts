import { Buffer } from 'node:buffer';
import type { Draft } from '@ackord/core';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import type { CaseContext } from '../case-context.ts';

const VERSIONS = 4;

export const relayUnknownOutcome: ConformanceCase = {
  id: 'G07',
  title: 'a row whose confirm is missing is sent again, later ones of its aggregate wait for it',
  async run(ctx) {
    // The queue of the consumer is to keep what is sent.
    await (await ctx.startBus()).close();
    const relay = await ctx.startBus({
      consumers: [],
      relay: true,
      relayLease: '30s',
      publishTimeout: '1s',
    });
    const version = (n: number): Draft =>
      ctx.order({}, { aggregate: { type: 'order', id: '42', version: n } });
    const first = version(1);
    const drafts = [first, ...Array.from({ length: VERSIONS - 1 }, (_, n) => version(n + 2))];
    const other = ctx.order({}, { aggregate: { type: 'order', id: '43', version: 1 } });
    const head = first.id;
    const later = drafts.slice(1).map(({ id }) => id);
    // A broker may open what it sends over at the first use: that must not be held.
    const opening = ctx.order();
    expect(await ctx.publishFrom(relay, opening, { timeoutMs: 10_000 })).toBeUndefined();
    ctx.broker.line.hold();
    await ctx.writeOutbox(relay, [...drafts, other]);
    await ctx.eventually('the outcome of the head is unknown', () =>
      ctx.history.events('outbox.delayed', head).at(0),
    );
    await ctx.eventually('another aggregate does not wait for it', () =>
      ctx.history.steps('outbox.publish.sent', other.id).at(0),
    );
    await ctx.eventually('the head was stored twice', storedTwice(ctx, head));
    for (const id of later) expect(ctx.history.steps('outbox.publish.sent', id)).toEqual([]);
    expect(await ctx.sql.outbox()).toHaveLength(VERSIONS + 1);
    ctx.broker.line.release();

    await ctx.eventually('all rows are deleted', async () => {
      return (await ctx.sql.outbox()).length === 0;
    });
    const kept = await ctx.raw.dump({ at: 'source' });
    const ofHead = kept.filter(({ id }) => id === head);
    expect(ofHead.length).toBeGreaterThanOrEqual(2);
    for (const { body } of ofHead) {
      expect(Buffer.from(body)).toEqual(Buffer.from(ctx.bodyOf(first)));
    }
    // None lies there before the last copy of the one before it.
    const order = kept.map(({ id }) => id).filter((id) => id !== other.id && id !== opening.id);
    expect(order.filter((id, at) => id !== order[at - 1])).toEqual([head, ...later]);

    await ctx.startBus();
    const ids = [opening.id, head, ...later, other.id];
    await ctx.settled(...ids);
    expect(await ctx.remaining()).toEqual([]);
    for (const id of ids) expect(await ctx.sql.effects(id)).toHaveLength(1);
  },
};

/** A dump may count as a delivery, so it asks only when there is more. */
function storedTwice({ raw }: CaseContext, wanted: string): () => Promise<boolean> {
  let before = 0;
  return async () => {
    const ready = await raw.ready({ at: 'source' });
    if (ready === before) return false;
    before = ready;
    const kept = await raw.dump({ at: 'source' });
    return kept.filter(({ id }) => id === wanted).length >= 2;
  };
}
