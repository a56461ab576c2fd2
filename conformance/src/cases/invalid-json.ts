import { Buffer } from 'node:buffer';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const invalidJson: ConformanceCase = {
  id: 'S03',
  title: 'a body that is no JSON is parked at once under its native id, with its bytes',
  async run(ctx) {
    await ctx.startBus();
    const body = Buffer.from('{not-json}');
    const id = `${ctx.namespace}-poison`;
    await ctx.publishRaw({ id, body });

    const copy = await ctx.parked(id);
    expect(Buffer.from(copy.body)).toEqual(body);
    expect(copy.headers['ackord-park-reason']).toBe('invalid_contract');
    expect(copy.headers['ackord-park-id']).toBe(id);
    expect(copy.headers['ackord-park-error']).toMatch(/JSON/);

    const good = await ctx.publish();
    await ctx.settled(good);
    expect(await ctx.remaining()).toEqual([]);
    expect(await ctx.raw.ready({ at: 'parking' })).toBe(1);
    expect(ctx.history.steps('received', id)).toHaveLength(1);
    expect(ctx.history.events('message.retried', id)).toEqual([]);
    expect(ctx.history.runs(id)).toEqual([]);
  },
};
