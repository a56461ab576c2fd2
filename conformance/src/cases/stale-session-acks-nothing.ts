import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import { DriverReader } from '../driver-reader.ts';

const ACK = { do: 'ack' } as const;

export const staleSessionAcksNothing: ConformanceCase = {
  id: 'B05',
  title: 'an ack of a session that was replaced is never sent on the new one',
  async run(ctx) {
    await using old = await DriverReader.open(ctx);
    const ids = [await ctx.publish(), await ctx.publish(), await ctx.publish()];
    await ctx.eventually('all are handed over', () => old.deliveries.length === ids.length);
    ctx.broker.line.cut();
    await ctx.eventually('the session is lost', () => old.lost);

    // The new session counts from the same first tag on.
    await using fresh = await DriverReader.open(ctx);
    await ctx.eventually('they came again', () => fresh.deliveries.length >= ids.length);
    const olds = old.deliveries.map((delivery) => [delivery, ACK] as const);
    const stale = ['stale', 'stale', 'stale'];
    expect(await old.settle(...olds)).toEqual(stale);
    expect(await fresh.settle(...olds)).toEqual(stale);

    const [, second] = fresh.deliveries;
    if (second === undefined) throw new Error('there is no second delivery');
    expect(await fresh.settle([second, ACK])).toEqual(['ok']);
    expect(fresh.lost).toBeUndefined();
    await fresh.session.close();
    const left = ids.filter((id) => id !== second.native.id);
    await ctx.eventually('the others are back', async () => {
      return (await ctx.raw.ready({ at: 'source' })) >= left.length;
    });
    const kept = await ctx.raw.dump({ at: 'source' });
    expect(kept.map(({ id }) => id).toSorted()).toEqual(left.toSorted());
  },
};

/** The same through a bus: its handler ends after the session that delivered is gone. */
export const staleAckIsReported: ConformanceCase = {
  id: 'B05b',
  title:
    'a run that ends after its session was replaced: ack dropped and reported, one effect each',
  async run(ctx) {
    const consumers = [{ options: { concurrency: 1 } }];
    const running = await ctx.startBus({ consumers });
    const first = await ctx.publish({ script: ['wait'] });
    await ctx.eventually('its handler runs', () => ctx.history.runs(first).at(0));
    const others = [await ctx.publish(), await ctx.publish()];
    ctx.broker.line.cut();
    const opened = () =>
      ctx.history.of('event').filter(({ who, event }) => {
        return who === running.name && event.event === 'connection.opened';
      });
    await ctx.eventually('the bus is connected again', () => opened().length === 2);
    running.gate.open();

    await ctx.settled(first, ...others);
    await ctx.eventually('it came again and was known', () =>
      ctx.history.events('message.duplicate', first).at(0),
    );
    expect(await ctx.remaining()).toEqual([]);
    const [lost, ...more] = ctx.history.events('settle.lost');
    expect(lost).toMatchObject({ how: 'ack', result: 'stale', messageId: first });
    expect(more).toEqual([]);
    for (const id of [first, ...others]) expect(ctx.history.runs(id)).toHaveLength(1);
    expect(await ctx.sql.effects()).toHaveLength(3);
  },
};
