import { Buffer } from 'node:buffer';
import { expect } from 'vitest';
import type { BusSpec } from '../bus-spec.ts';
import type { ConformanceCase } from '../case.ts';

const MESSAGES = 40;
/** Without an Inbox: the run that hangs must not keep the others from the database. */
const SPEC: BusSpec = {
  consumers: [{ effects: false, options: { inbox: { none: 'counts' } } }],
};

export const commitOnlyThePrefix: ConformanceCase = {
  id: 'B20',
  title: 'what is done above a record that hangs is not committed past it, and comes again',
  needs: ['log'],
  async run(ctx) {
    const victim = await ctx.startProcess(SPEC);
    const keyed = (n: number) => ({ aggregate: { type: 'order', id: `k${n}` } });
    const hanging = await ctx.publish({ script: ['hang'] }, keyed(0));
    const others: string[] = [];
    for (let n = 1; n < MESSAGES; n += 1) others.push(await ctx.publish({}, keyed(n)));
    await ctx.eventually('the others are done', () => {
      return ctx.history.events('message.applied').length === others.length;
    });
    const uncommitted = async (): Promise<readonly string[]> => {
      const records = await ctx.raw.dump({ at: 'source' });
      return records.map(({ body }) => String(JSON.parse(Buffer.from(body).toString()).id));
    };
    // The lanes without it are committed to their end.
    await ctx.eventually('commits are through', async () => {
      const left = await uncommitted();
      return left[0] === hanging && left.length < MESSAGES;
    });
    await victim.kill();
    const left = await uncommitted();
    expect(left[0]).toBe(hanging);
    expect(left.length).toBeGreaterThan(1);

    const heir = await ctx.startBus(SPEC);
    heir.gate.open();
    await ctx.eventually('everything is committed', async () => {
      return (await ctx.raw.ready({ at: 'source' })) === 0;
    });
    expect(await ctx.remaining()).toEqual([]);
    const twice = [hanging, ...others].filter((id) => ctx.history.runs(id).length === 2);
    expect(twice.toSorted()).toEqual(left.toSorted());
  },
};
