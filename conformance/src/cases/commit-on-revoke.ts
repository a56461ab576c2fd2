import { expect } from 'vitest';
import type { BusSpec } from '../bus-spec.ts';
import type { ConformanceCase } from '../case.ts';

/** More than partitions, so that each has some. */
const MESSAGES = 16;
/** Without an Inbox: runs that stand side by side must not wait for the database. */
const SPEC: BusSpec = {
  consumers: [{ effects: false, options: { concurrency: MESSAGES, inbox: { none: 'counts' } } }],
};

export const commitOnRevoke: ConformanceCase = {
  id: 'B19',
  title: 'a lane that moves is committed up to what is done, and by its old owner no more after',
  needs: ['log'],
  async run(ctx) {
    const first = await ctx.startBus(SPEC);
    const keyed = (n: number) => ({ aggregate: { type: 'order', id: `k${n}` } });
    const done: string[] = [];
    const open: string[] = [];
    for (let n = 0; n < MESSAGES; n += 1) done.push(await ctx.publish({}, keyed(n)));
    for (let n = 0; n < MESSAGES; n += 1) {
      open.push(await ctx.publish({ script: ['hang'] }, keyed(n)));
    }
    await ctx.eventually('all hang', () => open.every((id) => ctx.history.runs(id).length === 1));

    const second = await ctx.startBus(SPEC);
    const moved = () => open.filter((id) => ctx.history.runs(id).length === 2);
    await ctx.eventually('some lanes moved', () => moved().length);
    // What was done before the move does not run again at the new owner.
    expect(done.filter((id) => ctx.history.runs(id).length !== 1)).toEqual([]);

    first.gate.open();
    await ctx.eventually('the old owner is done', () => {
      return ctx.history.of('ran').filter(({ who }) => who === first.name).length === 2 * MESSAGES;
    });
    await first.close();
    // It committed what it kept, and the new owner has all that is left.
    await ctx.eventually('the new owner has the rest', () => {
      return moved().length > 0 && moved().length < MESSAGES;
    });
    const uncommitted = await ctx.raw.dump({ at: 'source' });
    const ids = uncommitted.map(({ body }) => JSON.parse(Buffer.from(body).toString()).id);
    expect(ids.toSorted()).toEqual(moved().toSorted());

    second.gate.open();
    await ctx.eventually('everything is committed', async () => {
      return (await ctx.raw.ready({ at: 'source' })) === 0;
    });
    expect(await ctx.remaining()).toEqual([]);
  },
};
