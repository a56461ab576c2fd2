import { Buffer } from 'node:buffer';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import type { CaseContext } from '../case-context.ts';

const REASON = 'ackord-park-reason';
const ERROR = 'ackord-park-error';

/** Bytes that no handler can take, and what the diagnosis must name. */
function malformed(ctx: CaseContext): Readonly<Record<string, readonly [Buffer, RegExp]>> {
  const wire = JSON.parse(Buffer.from(ctx.bodyOf(ctx.order())).toString()) as object;
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  return {
    bytes: [Buffer.from([0xff, 0xfe, 0x00, 0x80]), /UTF-8/],
    empty: [Buffer.alloc(0), /JSON/],
    cut: [json(wire).subarray(0, -5), /JSON/],
    list: [json([wire]), /object/],
    number: [json(7), /object/],
    noFields: [json({ hello: 'world' }), /id/],
    noId: [json({ ...wire, id: undefined }), /id/],
    noTime: [json({ ...wire, id: `${ctx.namespace}-time`, occurred_at: 'soon' }), /occurred_at/],
    version: [json({ ...wire, id: `${ctx.namespace}-version`, schema_version: 99 }), /99/],
    data: [json({ ...wire, id: `${ctx.namespace}-data`, data: { sku: 1 } }), /sku/],
  };
}

export const foreignMessagesPark: ConformanceCase = {
  id: 'B15',
  title:
    'malformed foreign messages are parked with their bytes and a reason; the consumer goes on',
  async run(ctx) {
    await ctx.startBus();
    const cases = malformed(ctx);
    for (const [name, [body]] of Object.entries(cases)) {
      // Those with an id in the body are known by that; the others by the one of the transport.
      const inBody = `${ctx.namespace}-${name}`;
      await ctx.publishRaw({ id: inBody, body });
      const copy = await ctx.parked(inBody);
      expect(Buffer.from(copy.body), name).toEqual(body);
      expect(copy.headers[REASON], name).toBe('invalid_contract');
      expect(copy.headers[ERROR], name).toMatch(cases[name]?.[1] ?? /never/);
    }
    await expectAlive(ctx, Object.keys(cases).length);
    for (const name of Object.keys(cases)) {
      expect(ctx.history.steps('received', `${ctx.namespace}-${name}`), name).toHaveLength(1);
    }
  },
};

export const namelessMessagesPark: ConformanceCase = {
  id: 'B15b',
  title: 'messages without any id are parked under one made of their bytes, the same each time',
  async run(ctx) {
    await ctx.startBus();
    const bodies = ['{not-json}', '', '{"hello":"world"}'].map((text) => Buffer.from(text));
    for (const body of [...bodies, ...bodies]) await ctx.raw.publish({ at: 'source' }, { body });
    const all = 2 * bodies.length;
    await ctx.eventually('all are parked', async () => {
      return (await ctx.raw.ready({ at: 'parking' })) === all;
    });
    const lot = await ctx.raw.dump({ at: 'parking' });
    for (const body of bodies) {
      const copies = lot.filter((copy) => body.equals(copy.body));
      expect(copies).toHaveLength(2);
      expect(new Set(copies.map(({ id }) => id)).size).toBe(1);
      expect(copies[0]?.id).toMatch(/^unnamed:[0-9a-f]+$/);
      expect(copies[0]?.headers['ackord-park-id']).toBe(copies[0]?.id);
    }
    await expectAlive(ctx, all);
  },
};

async function expectAlive(ctx: CaseContext, parked: number): Promise<void> {
  const good = await ctx.publish();
  await ctx.settled(good);
  expect(await ctx.remaining()).toEqual([]);
  expect(await ctx.raw.ready({ at: 'parking' })).toBe(parked);
  expect(ctx.history.runs().map(({ id }) => id)).toEqual([good]);
  expect(ctx.history.events('message.retried')).toEqual([]);
}
