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
    const alone = await written(ctx);
    const [{ id: on } = { id: '' }] = await ctx.sql.sql<{ id: string }>(
      'select message_id id from {schema}.outbox order by slot limit 1',
    );
    const relay = { consumers: [], relay: true, relayLease: `${LEASE_MS}ms` };
    // It lives, and never deletes this one row: its slot is not given to another relay.
    const victim = await ctx.startProcess({ ...relay, haltAt: 'outbox.confirmed', on });
    await victim.reached;
    await outboxHas(ctx, 1);
    const survivor = await ctx.startBus(relay);
    await bothHoldSlots(ctx);
    const shared = await written(ctx);
    await outboxHas(ctx, 1);
    const senders = [...alone, ...shared].map((id) => [id, sendersOf(ctx, id).length]);
    expect(senders).toEqual([...alone, ...shared].map((id) => [id, 1]));
    const by = shared.flatMap((id) => sendersOf(ctx, id));
    expect(new Set(by)).toEqual(new Set([victim.name, survivor.name]));

    await victim.kill();
    const startMs = Date.now();
    const taken = await written(ctx);
    await outboxHas(ctx, 0);
    ctx.figures['takeover after death of a relay in ms'] = Date.now() - startMs;
    for (const id of taken) expect(sendersOf(ctx, id)).toEqual([survivor.name]);
    expect(sendersOf(ctx, on)).toEqual([victim.name, survivor.name]);

    const kept = await ctx.raw.dump({ at: 'source' });
    const all = [...alone, ...shared, ...taken];
    expect(kept.map(({ id }) => id).toSorted()).toEqual([...all, on].toSorted());
    await ctx.startBus();
    const acked = (): boolean => ctx.history.steps('ack.after').length === kept.length;
    await ctx.eventually('every copy is acked', acked);
    expect(await ctx.remaining()).toEqual([]);
    expect(await ctx.sql.effects()).toHaveLength(all.length);
  },
};

/** The slot of an aggregate follows from its id: many of them are at both relays. */
async function written(ctx: CaseContext): Promise<readonly string[]> {
  const writer = await ctx.startBus({ consumers: [] });
  const drafts = Array.from({ length: ROWS }, () =>
    ctx.order({}, { aggregate: { type: 'order', id: crypto.randomUUID(), version: 1 } }),
  );
  await ctx.writeOutbox(writer, drafts);
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

async function outboxHas(ctx: CaseContext, rows: number): Promise<void> {
  const found = async (): Promise<boolean> => (await ctx.sql.outbox()).length === rows;
  await ctx.eventually(`the outbox has ${rows} rows`, found);
}

function sendersOf({ history }: CaseContext, id: string): readonly string[] {
  return history.steps('outbox.publish.sent', id).map(({ who }) => who);
}
