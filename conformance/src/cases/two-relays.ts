import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import type { CaseContext } from '../case-context.ts';

const ROWS = 40;
/** Longer than a busy machine may keep a process waiting. */
const LEASE_MS = 3_000;

export const twoRelays: ConformanceCase = {
  id: 'G08',
  title: 'two relays send no row twice, and one takes over when the other was killed',
  timeoutMs: 60_000,
  async run(ctx) {
    // The queue of the consumer is to keep what is sent.
    await (await ctx.startBus()).close();
    const relay = { consumers: [], relay: true, relayLease: `${LEASE_MS}ms` };
    const victim = await ctx.startProcess(relay);
    const survivor = await ctx.startBus(relay);
    await bothHoldSlots(ctx);

    const shared = await written(ctx, survivor);
    await outboxIsEmpty(ctx);
    const by = new Map(shared.map((id) => [id, sendersOf(ctx, id)]));
    for (const [id, senders] of by) expect([id, senders.length]).toEqual([id, 1]);
    expect(new Set([...by.values()].flat())).toEqual(new Set([victim.name, survivor.name]));

    await victim.kill();
    const startMs = Date.now();
    const taken = await written(ctx, survivor);
    await outboxIsEmpty(ctx);
    ctx.figures['takeover after death of a relay in ms'] = Date.now() - startMs;
    for (const id of taken) expect(sendersOf(ctx, id)).toEqual([survivor.name]);

    const kept = await ctx.raw.dump({ at: 'source' });
    expect(kept.map(({ id }) => id).toSorted()).toEqual([...shared, ...taken].toSorted());
    await ctx.startBus();
    await ctx.settled(...shared, ...taken);
    expect(await ctx.remaining()).toEqual([]);
    expect(await ctx.sql.effects()).toHaveLength(2 * ROWS);
  },
};

/** The slot of an aggregate follows from its id: many of them are at both relays. */
async function written(
  ctx: CaseContext,
  running: Parameters<CaseContext['writeOutbox']>[0],
): Promise<readonly string[]> {
  const drafts = Array.from({ length: ROWS }, (_, n) =>
    ctx.order({}, { aggregate: { type: 'order', id: `${Date.now()}-${n}`, version: 1 } }),
  );
  await ctx.writeOutbox(running, drafts);
  return drafts.map(({ id }) => id);
}

async function bothHoldSlots(ctx: CaseContext): Promise<void> {
  await ctx.eventually('both relays hold half of the slots', async () => {
    const owners = await ctx.sql.sql<{ slots: number }>(
      `select count(*)::int slots from {schema}.outbox_slots
       where owner is not null and expires_at > now() group by owner`,
    );
    return owners.length === 2 && owners.every(({ slots }) => slots === 32);
  });
}

async function outboxIsEmpty(ctx: CaseContext): Promise<void> {
  await ctx.eventually('all rows are sent', async () => (await ctx.sql.outbox()).length === 0);
}

function sendersOf({ history }: CaseContext, id: string): readonly string[] {
  return history.steps('outbox.publish.sent', id).map(({ who }) => who);
}
