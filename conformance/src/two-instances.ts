import { type Interceptor, transient } from '@ackord/core';
import { expect } from 'vitest';
import type { CaseContext } from './case-context.ts';
import { Gate } from './gate.ts';

export interface TwoInstances {
  readonly id: string;
  readonly gate: Gate;
  /** Name of the bus that has the effect. */
  readonly first: string;
}

/**
 * Two buses with the same message: one stands behind its effect and before COMMIT until the gate
 * opens, the other has been handed a copy. `fails`: the first then takes its effect back.
 */
export async function atTwoInstances(
  ctx: CaseContext,
  { fails = false }: { readonly fails?: boolean } = {},
): Promise<TwoInstances> {
  const gate = new Gate();
  let holder: string | undefined;
  for (const name of ['one', 'two']) {
    const intercept: Interceptor = async (step) => {
      if (step !== 'handler.after') return;
      if (holder !== undefined) return;
      holder = name;
      await gate.opened();
      if (fails) throw transient('the first takes its effect back');
    };
    await ctx.startBus({}, { name, intercept });
  }
  const publisher = await ctx.startBus({ consumers: [] }, { store: false });
  const draft = ctx.order({ sku: 'book', count: 2 });
  const { id } = draft;
  expect(await ctx.publishFrom(publisher, draft)).toBeUndefined();
  const first = await ctx.eventually('the first has its effect', () => holder);
  // The broker chooses who gets a copy: as many as it takes.
  await ctx.eventually('the second has a copy', async () => {
    expect(await ctx.publishFrom(publisher, draft)).toBeUndefined();
    return ctx.history.steps('decoded', id).some(({ who }) => who !== first);
  });
  if (ctx.profile.database === 'postgres') await waitsForTheFirst(ctx);
  expect(ctx.history.runs(id)).toHaveLength(1);
  return { id, gate, first: first ?? '' };
}

/** What was published, and each copy that a retry or a deferral made of it. */
export async function allAcked(ctx: CaseContext, id: string): Promise<void> {
  const { history } = ctx;
  await ctx.eventually('every copy is acked', () => {
    const published = history.of('sent').length;
    const copies = history.steps('retry.copy.confirmed', id).length;
    return history.steps('ack.after', id).length === published + copies;
  });
}

/** PGlite has one connection, so that there the claim waits for that. */
async function waitsForTheFirst(ctx: CaseContext): Promise<void> {
  await ctx.eventually('a claim waits for the open transaction', async () => {
    const [row] = await ctx.sql.sql<{ count: number }>(
      `select count(*)::int count from pg_stat_activity
       where wait_event_type = 'Lock' and query like '%' || $1 || '%processed_messages%'`,
      [ctx.database.schema],
    );
    return (row?.count ?? 0) > 0;
  });
}
