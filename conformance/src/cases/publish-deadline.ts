import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

const DEADLINE_MS = 500;
/** The deadline is looked at every 50 ms; the rest is a busy machine. */
const SLACK_MS = 1_000;

export const publishDeadline: ConformanceCase = {
  id: 'A14',
  title: 'a publish to a paused broker ends as unknown by its deadline, and may be repeated',
  needs: ['server'],
  async run(ctx) {
    await ctx.startBus();
    const publisher = await ctx.startBus({ consumers: [] }, { store: false });
    const first = ctx.order();
    expect(await ctx.publishFrom(publisher, first)).toBeUndefined();
    await ctx.settled(first.id);

    await ctx.broker.server.pause();
    const drafts = Array.from({ length: 20 }, () => ctx.order());
    const errors = await Promise.all(
      drafts.map((draft) => ctx.publishFrom(publisher, draft, { timeoutMs: DEADLINE_MS })),
    );
    await ctx.broker.server.unpause();

    expect(errors.map((error) => error?.code)).toEqual(drafts.map(() => 'MSG_PUBLISH_UNCONFIRMED'));
    expect(errors[0]?.message).toContain(`${DEADLINE_MS} ms`);
    const outcomes = ctx.history.of('outcome').filter(({ outcome }) => outcome === 'unknown');
    expect(outcomes).toHaveLength(drafts.length);
    for (const { tookMs } of outcomes) {
      expect(tookMs).toBeGreaterThanOrEqual(DEADLINE_MS - 1);
      expect(tookMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
    }

    for (const draft of drafts) {
      await ctx.eventually('the broker confirms it', async () => {
        return (await ctx.publishFrom(publisher, draft)) === undefined;
      });
    }
    await ctx.settled(...drafts.map(({ id }) => id));
    expect(await ctx.sql.effects()).toHaveLength(drafts.length + 1);
  },
};
