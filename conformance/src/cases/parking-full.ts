import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

/** A broker may look at its limit a moment after it was passed. */
const MOST_TAKEN = 20;

export const parkingFull: ConformanceCase = {
  id: 'E03',
  title: 'a parking place that refuses: not acked, tries grow apart, told; others go on meanwhile',
  async run(ctx) {
    await ctx.startBus();
    await ctx.raw.full({ at: 'parking' }, true);
    const ids: string[] = [];
    const refused = () => ctx.history.events('copy.failed').at(0)?.messageId;
    while (refused() === undefined && ids.length < MOST_TAKEN) {
      const id = await ctx.publish({ script: ['permanent'] });
      ids.push(id);
      await ctx.eventually('it is parked or refused', () => {
        return refused() ?? ctx.history.events('message.parked', id).at(0);
      });
    }
    const stuck = refused() ?? '';
    await ctx.eventually('it was tried again and again', () => {
      return ctx.history.events('copy.failed', stuck).length >= 4;
    });
    const tries = ctx.history.events('copy.failed', stuck);
    expect(tries.every(({ to }) => to === 'parking')).toBe(true);
    expect(tries.slice(0, 4).map((event) => event['tries'])).toEqual([1, 2, 3, 4]);
    const waits = tries.map((event) => Number(event['nextTryInMs']));
    expect(Math.min(...waits)).toBeGreaterThan(0);
    expect(ctx.history.steps('ack.before', stuck)).toEqual([]);
    expect(ctx.history.events('message.parked', stuck)).toEqual([]);
    expect(ctx.history.events('connection.lost')).toEqual([]);
    await ctx.settled(await ctx.publish());

    await ctx.raw.full({ at: 'parking' }, false);
    await ctx.eventually('it is parked', () => ctx.history.events('message.parked', stuck).at(0));
    expect(await ctx.remaining()).toEqual([]);
    const lot = await ctx.raw.dump({ at: 'parking' });
    expect(lot.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(ctx.history.runs(stuck)).toHaveLength(1);
  },
};

/** What could not be parked is not lost with the process either. */
export const parkingMissingOverStop: ConformanceCase = {
  id: 'E03b',
  title: 'stopped while parking is missing: back in the source, parked by the next one, run once',
  async run(ctx) {
    const stopped = await ctx.startBus();
    await ctx.raw.remove({ at: 'parking' });
    const id = await ctx.publish({ script: ['permanent', 'ok'] });
    await ctx.eventually('the copy failed', () => ctx.history.events('copy.failed', id).at(0));
    await stopped.close();
    await ctx.eventually('it is back', () => ctx.raw.ready({ at: 'source' }));
    expect(ctx.history.steps('ack.before', id)).toEqual([]);

    await ctx.raw.restore({ at: 'parking' });
    await ctx.startBus();
    const copy = await ctx.parked(id);
    expect(copy.headers['ackord-park-reason']).toBe('permanent');
    expect(await ctx.remaining()).toEqual([]);
    expect(ctx.history.runs(id)).toHaveLength(1);
  },
};
