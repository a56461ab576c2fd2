import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const killAfterParkCopy: ConformanceCase = {
  id: 'E02',
  title: 'killed after the parking copy was confirmed: one more record at most, the same key',
  async run(ctx) {
    const victim = await ctx.startProcess({ dieAt: 'park.copy.confirmed' });
    const id = await ctx.publish({ script: ['permanent', 'ok'] });
    await victim.died;
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(1);
    expect(ctx.history.steps('ack.before', id)).toEqual([]);

    await ctx.startBus();
    await ctx.eventually('it is parked again', () =>
      ctx.history.events('message.parked', id).at(0),
    );
    expect(await ctx.remaining()).toEqual([]);
    const lot = await ctx.raw.dump({ at: 'parking' });
    expect(lot).toHaveLength(2);
    const keyOf = ({ headers }: (typeof lot)[number]) =>
      ['id', 'consumer', 'cycle', 'reason', 'attempts', 'error'].map(
        (name) => headers[`ackord-park-${name}`],
      );
    expect(keyOf(lot[0] as (typeof lot)[number])).toEqual(keyOf(lot[1] as (typeof lot)[number]));
    // The decision was recorded, so the message is not run again.
    expect(ctx.history.runs(id)).toHaveLength(1);
    expect(await ctx.sql.effects(id)).toEqual([]);
  },
};

export const killBeforeParkCopy: ConformanceCase = {
  id: 'E02b',
  title: 'killed before the parking copy: nothing parked, comes again, parked once without a run',
  async run(ctx) {
    const victim = await ctx.startProcess({ dieAt: 'park.copy.before' });
    const id = await ctx.publish({ script: ['permanent', 'ok'] });
    await victim.died;
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(0);

    await ctx.startBus();
    const copy = await ctx.parked(id);
    expect(copy.headers['ackord-park-reason']).toBe('permanent');
    expect(copy.headers['ackord-park-error']).toBe('the script says permanent');
    expect(await ctx.remaining()).toEqual([]);
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(1);
    expect(ctx.history.runs(id)).toHaveLength(1);
  },
};

export const parkConfirmIsAwaited: ConformanceCase = {
  id: 'E02c',
  title: 'the ack waits for the confirm of the parking copy',
  async run(ctx) {
    const { line } = ctx.broker;
    const running = await ctx.startBus(
      {},
      { intercept: (step) => (step === 'park.copy.before' ? line.hold() : undefined) },
    );
    // Opens the connection for what is sent, which needs answers.
    expect(await ctx.publishFrom(running, ctx.order())).toBeUndefined();
    const draft = ctx.order({ script: ['permanent'] });
    await ctx.publishRaw({ id: draft.id, body: ctx.bodyOf(draft) });
    await ctx.parked(draft.id);
    expect(ctx.history.steps('park.copy.confirmed', draft.id)).toEqual([]);
    expect(ctx.history.steps('ack.before', draft.id)).toEqual([]);

    line.release();
    await ctx.eventually('it is acked', () => ctx.history.steps('ack.after', draft.id).at(0));
    expect(await ctx.remaining()).toEqual([]);
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(1);
  },
};
