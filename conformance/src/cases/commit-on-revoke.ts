import { expect } from 'vitest';
import type { BusSpec } from '../bus-spec.ts';
import type { ConformanceCase } from '../case.ts';
import type { Act } from '../contracts.ts';

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
    const published = async (act: Act): Promise<readonly string[]> => {
      const ids: string[] = [];
      for (let n = 0; n < MESSAGES; n += 1)
        ids.push(await ctx.publish({ script: [act] }, keyed(n)));
      return ids;
    };
    const done = await published('ok');
    const open = await published('hang');
    // Each waits behind the one of its key.
    const later = await published('ok');
    await ctx.eventually('all hang', () => open.every((id) => ctx.history.runs(id).length === 1));

    const second = await ctx.startBus(SPEC);
    const moved = () => open.filter((id) => ctx.history.runs(id).length === 2);
    await ctx.eventually('some lanes moved', () => moved().length);
    // What was done before the move does not run again at the new owner.
    expect(done.filter((id) => ctx.history.runs(id).length !== 1)).toEqual([]);

    first.gate.open();
    await ctx.eventually('the old owner has run what it began and what it kept', () => {
      const ran = ctx.history.of('ran').filter(({ who }) => who === first.name);
      return ran.length === 3 * MESSAGES - moved().length;
    });
    await first.close();
    expect(moved().length).toBeLessThan(MESSAGES);
    const behind = later.filter((_, n) => moved().includes(open[n] ?? ''));
    // It committed what it kept, and nothing of what moved.
    const uncommitted = await ctx.raw.dump({ at: 'source' });
    const ids = uncommitted.map(({ body }) => JSON.parse(Buffer.from(body).toString()).id);
    expect(ids.toSorted()).toEqual([...moved(), ...behind].toSorted());

    second.gate.open();
    await ctx.eventually('everything is committed', async () => {
      return (await ctx.raw.ready({ at: 'source' })) === 0;
    });
    expect(await ctx.remaining()).toEqual([]);
    // The old owner started nothing of a lane that was gone.
    expect(later.filter((id) => ctx.history.runs(id).length !== 1)).toEqual([]);
  },
};
