import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const retryCopyFails: ConformanceCase = {
  id: 'D18',
  title: 'a retry copy that cannot be stored: not acked, back in the source after a stop',
  needs: ['buckets'],
  async run(ctx) {
    const [delayMs] = ctx.delaysMs;
    const bucket = { at: 'bucket', delayMs } as const;
    const stopped = await ctx.startBus();
    await ctx.raw.remove(bucket);
    const id = await ctx.publish({ script: ['transient', 'ok'] });
    await ctx.eventually('the copy failed twice', () => {
      return ctx.history.events('copy.failed', id).length >= 2;
    });
    await stopped.close();
    expect(ctx.history.steps('ack.before', id)).toEqual([]);
    expect(ctx.history.events('message.retried', id)).toEqual([]);
    await ctx.eventually('it is back', () => ctx.raw.ready({ at: 'source' }));
    expect(await ctx.sql.attempts(id)).toMatchObject([{ attempts: 1 }]);

    await ctx.raw.restore(bucket);
    await ctx.startBus();
    await ctx.settled(id);
    expect(await ctx.remaining()).toEqual([]);
    expect(ctx.history.runs(id).map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(await ctx.sql.effects(id)).toHaveLength(1);
  },
};

export const retryConfirmNeverComes: ConformanceCase = {
  id: 'D18b',
  title: 'connection lost while the copy waits for its confirm: not acked, both forks one effect',
  needs: ['buckets'],
  async run(ctx) {
    const { line } = ctx.broker;
    const draft = ctx.order({ script: ['transient', 'ok'] });
    const { id } = draft;
    let isHeld = false;
    const running = await ctx.startBus(
      {},
      {
        intercept: (step, { messageId }) => {
          if (step !== 'retry.copy.before' || messageId !== id || isHeld) return;
          isHeld = true;
          line.hold();
        },
      },
    );
    // Opens the connection for what is sent, which needs answers.
    expect(await ctx.publishFrom(running, ctx.order())).toBeUndefined();
    await ctx.publishRaw({ id, body: ctx.bodyOf(draft) });
    const places = [{ at: 'bucket', delayMs: ctx.delaysMs[0] }, { at: 'retry' }] as const;
    await ctx.eventually('the broker has the copy', async () => {
      for (const place of places) if ((await ctx.raw.ready(place)) > 0) return true;
      return false;
    });
    expect(ctx.history.steps('retry.copy.confirmed', id)).toEqual([]);
    expect(ctx.history.steps('ack.before', id)).toEqual([]);

    line.cut();
    line.release();
    await ctx.settled(id);
    await ctx.eventually('both are done', () => ctx.history.events('message.duplicate', id).at(0));
    expect(await ctx.remaining()).toEqual([]);
    expect(ctx.history.runs(id).map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(await ctx.sql.effects(id)).toHaveLength(1);
  },
};
