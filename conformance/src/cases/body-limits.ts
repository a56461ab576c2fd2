import type { Draft } from '@ackord/core';
import { type Capabilities, type Outcome, systemClock } from '@ackord/core/driver';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import type { CaseContext } from '../case-context.ts';

const SMALL = [0, 1, 65_536];

export const bodyLimits: ConformanceCase = {
  id: 'A10',
  title: 'bodies from 0 bytes to the limit arrive unchanged; one byte more is refused whole',
  timeoutMs: 60_000,
  async run(ctx) {
    const unread = await ctx.startBus();
    await unread.close();
    const limits = await sendSmall(ctx);
    const small = await ctx.raw.dump({ at: 'source' });
    expect(small.map(({ body }) => Buffer.from(body))).toEqual(SMALL.map(bodyOf));

    const bus = await ctx.startBus({ consumers: [] }, { store: false });
    const room = await roomForBody(ctx, limits);
    const before = await ctx.raw.ready({ at: 'source' });
    const fitting = [sized(ctx, room - 1), sized(ctx, room)];
    for (const draft of fitting) expect(await ctx.publishFrom(bus, draft)).toBeUndefined();
    const error = await ctx.publishFrom(bus, sized(ctx, room + 1));
    expect(error).toMatchObject({ code: 'MSG_PUBLISH_TOO_LARGE', failure: 'permanent' });
    expect(await ctx.publishFrom(bus, ctx.order())).toBeUndefined();
    expect(await ctx.raw.ready({ at: 'source' })).toBe(before + fitting.length + 1);
    expect(ctx.history.events('connection.lost')).toEqual([]);

    const stored = await ctx.raw.dump({ at: 'source' });
    for (const draft of fitting) {
      const body = stored.find(({ id }) => id === draft.id)?.body ?? Buffer.of();
      // Not by `toEqual`, which would print megabytes.
      expect(Buffer.compare(body, ctx.bodyOf(draft))).toBe(0);
    }
    ctx.figures['largest body in bytes'] = room;
  },
};

const bodyOf = (bytes: number): Buffer => Buffer.alloc(bytes, 'a');

/** Bodies below any envelope, by the driver itself. Resolves to what the session says of its limits. */
async function sendSmall(ctx: CaseContext): Promise<Capabilities> {
  const { driver } = ctx.broker.driver();
  const name = ctx.name('orders');
  const type = 'order.created';
  const plan = driver.plan({ destinations: [{ name }], consumers: [] });
  const signal = AbortSignal.timeout(10_000);
  const session = await driver.open({ plan, clock: systemClock, signal, notice: () => {} });
  const [to = ''] = plan.address({ at: 'destination', name, type });
  for (const bytes of SMALL) {
    const id = `${ctx.namespace}-${bytes}`;
    const mirror = { id, type, contentType: 'text/plain' };
    const message = { to, body: bodyOf(bytes), mirror, headers: {}, dedupId: id };
    const outcome = await new Promise<Outcome>((resolve) => {
      session.send([message], { signal }, (_, answer) => resolve(answer));
    });
    expect(outcome).toEqual({ is: 'confirmed' });
  }
  await session.close();
  return session.capabilities;
}

/** Bytes that the limit leaves to a body, where it counts headers too. */
async function roomForBody(ctx: CaseContext, limits: Capabilities): Promise<number> {
  const id = await ctx.publish();
  const stored = (await ctx.raw.dump({ at: 'source' })).find((message) => message.id === id);
  if (stored === undefined) throw new Error('The probe is not there.');
  const { body, headers } = stored;
  const mirror = { id, type: 'order.created', contentType: '' };
  const bytes = limits.sizeOf({ to: '', body, headers, mirror, dedupId: '' });
  return limits.bodyBytes - (bytes - body.byteLength);
}

/** An order whose body has exactly so many bytes. */
function sized(ctx: CaseContext, bytes: number): Draft {
  const { byteLength } = ctx.bodyOf(ctx.order({ pad: '' }));
  return ctx.order({ pad: 'x'.repeat(bytes - byteLength) });
}
