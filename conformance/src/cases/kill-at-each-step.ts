import type { StepName } from '@ackord/core';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

/** Step of the death, and the message on which: `S01`, `S01b`, `S04` and `G04` have the others. */
const DEATHS = [
  { step: 'received', on: 'done' },
  { step: 'inbox.claimed', on: 'done' },
  { step: 'ack.after', on: 'done' },
  { step: 'attempt.recorded', on: 'again' },
  { step: 'park.copy.confirmed', on: 'never' },
] as const satisfies readonly { readonly step: StepName; readonly on: string }[];

export const killAtEachStep: ConformanceCase = {
  id: 'H12',
  title: 'killed by SIGKILL (in memory: abandoned) in each phase: no loss, one effect, one budget',
  timeoutMs: 90_000,
  async run(ctx) {
    const drafts = {
      done: ctx.order({ sku: 'done' }),
      again: ctx.order({ sku: 'again', script: ['transient', 'ok'] }),
      never: ctx.order({ sku: 'never', script: ['permanent'] }),
    };
    // One consumer for each: all of them get every message, and each dies at its own step.
    const victims = await Promise.all(
      DEATHS.map(({ step, on }) => {
        const consumers = [{ name: step, options: { concurrency: 1 } }];
        return ctx.startProcess({ consumers, dieAt: step, on: drafts[on].id });
      }),
    );
    const publisher = await ctx.startBus({ consumers: [] }, { store: false });
    for (const draft of Object.values(drafts)) {
      expect(await ctx.publishFrom(publisher, draft)).toBeUndefined();
    }
    await Promise.all(victims.map(({ died }) => died));
    const how = ctx.profile.kill === 'process' ? 'SIGKILL' : expect.stringContaining('abandoned');
    expect(ctx.history.of('died').map((death) => death.how)).toEqual(victims.map(() => how));

    await ctx.startBus({ consumers: DEATHS.map(({ step }) => ({ name: step })) });
    await ctx.eventually('both that can be done are done everywhere', async () => {
      return (await ctx.sql.inbox()).length === 2 * DEATHS.length;
    });
    for (const { step } of DEATHS) await ctx.parked(drafts.never.id, ctx.name(step));
    expect(await ctx.remaining()).toEqual([]);

    for (const { step, on } of DEATHS) {
      const lot = await ctx.raw.dump({ at: 'parking', consumer: ctx.name(step) });
      // Only a death between the parked copy and the ack may leave a second one.
      const most = on === 'never' ? 2 : 1;
      expect(lot.length, step).toBeLessThanOrEqual(most);
      expect(new Set(lot.map(({ id }) => id))).toEqual(new Set([drafts.never.id]));
    }
    for (const { id } of [drafts.done, drafts.again]) {
      const effects = await ctx.sql.effects(id);
      expect(effects.map(({ consumer }) => consumer).toSorted()).toEqual(
        DEATHS.map(({ step }) => ctx.name(step)).toSorted(),
      );
    }
    expect(await ctx.sql.effects(drafts.never.id)).toEqual([]);
  },
};
