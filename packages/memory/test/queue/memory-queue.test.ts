import { ManualClock } from '@ackord/core/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryBroker } from '../../src/broker/memory-broker.ts';
import { type MemoryQueueOptions, memoryQueue } from '../../src/queue/memory-queue.ts';
import { open, outgoing, send, text, topology } from '../broker-fixture.ts';
import { type Inlet, inlet } from './queue-fixture.ts';

let clock: ManualClock;
let broker: MemoryBroker;

beforeEach(() => {
  clock = new ManualClock();
  broker = new MemoryBroker({ clock });
});

async function setup(options: MemoryQueueOptions = {}) {
  const driver = memoryQueue({ broker, ...options });
  const session = await open('queue', driver, clock);
  const reader = (address: string, window?: number): Promise<Inlet> =>
    inlet(session, driver, address, window);
  return { driver, session, reader, plan: driver.plan(topology) };
}

const bodiesAt = (address: string): readonly string[] =>
  broker.dump(address).map((m) => text(m.body));

describe('fan-out', () => {
  it('gives every consumer the types it handles', async () => {
    const { session, reader } = await setup();
    const reserve = await reader('reserve');
    const audit = await reader('audit');
    const cancelled = { id: 'x', type: 'order.cancelled', contentType: 'application/json' };
    await send(session, [
      outgoing('orders', 'created'),
      outgoing('orders', 'cancelled', { mirror: cancelled }),
    ]);
    await clock.advance(0);
    expect([reserve.bodies(), audit.bodies()]).toEqual([['created'], ['created', 'cancelled']]);
  });

  it('calls a destination without a fitting subscriber unroutable', async () => {
    const driver = memoryQueue({ broker });
    const session = await open('queue', driver, clock);
    broker.faults.remove('audit');
    const outcomes = await send(session, [
      outgoing('stock', 'a'),
      outgoing('nowhere', 'b'),
      outgoing('orders', 'c'),
    ]);
    expect(outcomes).toMatchObject([
      { is: 'rejected', kind: 'unroutable' },
      { is: 'rejected', kind: 'unroutable' },
      { is: 'confirmed' },
    ]);
  });

  it('shares a queue among receivers, each message to one', async () => {
    const { session, reader } = await setup();
    const one = await reader('reserve');
    const two = await reader('reserve');
    await send(
      session,
      ['a', 'b', 'c', 'd'].map((body) => outgoing('orders', body)),
    );
    await clock.advance(0);
    expect([one.got.length, two.got.length]).toEqual([2, 2]);
    expect([...one.bodies(), ...two.bodies()].sort()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('keeps messages for a consumer that is away', async () => {
    const { session, reader } = await setup();
    await send(session, [outgoing('orders', 'a')]);
    const reserve = await reader('reserve');
    await clock.advance(0);
    expect(reserve.bodies()).toEqual(['a']);
  });
});

describe('deliveries', () => {
  it('shows what the broker knows, and hands out copies', async () => {
    const { session, reader } = await setup();
    const reserve = await reader('reserve');
    await send(session, [outgoing('orders', 'a', { key: 'k', headers: { h: '1' } })]);
    await clock.advance(0);
    const [first] = reserve.got;
    expect(first).toMatchObject({
      headers: { h: '1' },
      native: { id: 'id-a', type: 'order.created', subject: 'orders' },
      receivedAtMs: clock.now(),
      brokerAtMs: clock.now(),
      redelivered: false,
      nativeCount: 1,
    });
    first?.body.fill(0);
    Object.assign(first?.headers ?? {}, { h: 'changed' });
    await reserve.settle(0, { do: 'release' });
    await clock.advance(0);
    expect(reserve.bodies()[1]).toBe('a');
    expect(reserve.got[1]?.headers).toEqual({ h: '1' });
  });

  it('never has more unsettled than the window, follows its changes, and pauses at 0', async () => {
    const { session, reader } = await setup();
    const reserve = await reader('reserve', 2);
    await send(
      session,
      ['a', 'b', 'c', 'd', 'e'].map((body) => outgoing('orders', body)),
    );
    await clock.advance(0);
    expect(reserve.bodies()).toEqual(['a', 'b']);
    reserve.receiver.setWindow(3);
    await clock.advance(0);
    expect(reserve.got.length).toBe(3);
    reserve.receiver.setWindow(0);
    for (const i of [0, 1, 2]) await reserve.settle(i, { do: 'ack' });
    await clock.advance(0);
    expect(reserve.got.length).toBe(3);
    reserve.receiver.setWindow(1);
    await clock.advance(0);
    expect(reserve.bodies()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('takes nothing after stop, and still settles', async () => {
    const { session, reader } = await setup();
    const reserve = await reader('reserve');
    await send(session, [outgoing('orders', 'a')]);
    await clock.advance(0);
    await reserve.receiver.stop();
    await send(session, [outgoing('orders', 'b')]);
    await clock.advance(0);
    expect(reserve.bodies()).toEqual(['a']);
    expect(await reserve.settle(0, { do: 'ack' })).toBe('ok');
    expect(bodiesAt('reserve')).toEqual(['b']);
  });
});

describe('settling', () => {
  it('removes what was acked, once', async () => {
    const { session, reader } = await setup();
    const reserve = await reader('reserve');
    await send(session, [outgoing('orders', 'a')]);
    await clock.advance(0);
    expect(await reserve.settle(0, { do: 'ack' })).toBe('ok');
    expect(await reserve.settle(0, { do: 'ack' })).toBe('stale');
    expect(await reserve.settle(0, { do: 'release' })).toBe('stale');
    expect(broker.depth('reserve')).toBe(0);
  });

  it('releases to another receiver when there is one', async () => {
    const { session, reader } = await setup();
    const one = await reader('reserve');
    await send(session, [outgoing('orders', 'a')]);
    await clock.advance(0);
    const two = await reader('reserve');
    await one.settle(0, { do: 'release' });
    await clock.advance(0);
    expect([one.got.length, two.bodies()]).toEqual([1, ['a']]);
    expect(two.got[0]).toMatchObject({ redelivered: true, nativeCount: 2 });
  });

  it('returns after the delay, never before, and in its old place', async () => {
    const { session, reader } = await setup({ delays: 'return' });
    const reserve = await reader('reserve', 1);
    await send(
      session,
      ['a', 'b'].map((body) => outgoing('orders', body)),
    );
    await clock.advance(0);
    await reserve.settle(0, { do: 'return', delayMs: 1_000 });
    await clock.advance(999);
    expect(reserve.bodies()).toEqual(['a', 'b']);
    expect(broker.depth('reserve')).toBe(2);
    await clock.advance(1);
    await reserve.settle(1, { do: 'ack' });
    await clock.advance(0);
    expect(reserve.bodies()).toEqual(['a', 'b', 'a']);
  });

  it('answers unknown past its signal', async () => {
    const { session, reader } = await setup();
    const reserve = await reader('reserve');
    await send(session, [outgoing('orders', 'a')]);
    await clock.advance(0);
    const batch = [{ token: reserve.got[0]?.token, how: { do: 'ack' } as const }];
    expect(await reserve.receiver.settle(batch, AbortSignal.abort())).toEqual(['unknown']);
    expect(broker.depth('reserve')).toBe(1);
  });
});

describe('buckets', () => {
  it('come up in the retry queue of their consumer when due, never early', async () => {
    const { session, reader, plan } = await setup();
    const retry = await reader('reserve.retry');
    const live = await reader('reserve');
    const [bucket = ''] = plan.address({ at: 'retry', consumer: 'reserve', delayMs: 5_000 });
    await send(session, [outgoing(bucket, 'a')]);
    expect(bodiesAt(bucket)).toEqual(['a']);
    await clock.advance(4_999);
    expect(retry.bodies()).toEqual([]);
    await clock.advance(1);
    expect([retry.bodies(), live.bodies(), bodiesAt(bucket)]).toEqual([['a'], [], []]);
    expect(retry.got[0]).toMatchObject({ redelivered: false, nativeCount: 1 });
  });

  it('do not block one another', async () => {
    const { session, reader } = await setup();
    const retry = await reader('reserve.retry');
    await send(session, [
      outgoing('reserve.retry.1m', 'long'),
      outgoing('reserve.retry.200ms', 'short'),
    ]);
    await clock.advance(200);
    expect(retry.bodies()).toEqual(['short']);
  });

  it('keep what is due while the retry queue is away', async () => {
    const { session, reader } = await setup();
    await send(session, [outgoing('reserve.retry.200ms', 'a')]);
    broker.faults.remove('reserve.retry');
    await clock.advance(60_000);
    broker.faults.restore('reserve.retry');
    await clock.advance(2_000);
    const retry = await reader('reserve.retry');
    await clock.advance(0);
    expect(retry.bodies()).toEqual(['a']);
  });
});

describe('leases', () => {
  it('end in a redelivery; the window stays used until the old one is dropped', async () => {
    const { session, reader } = await setup({ leaseMs: 1_000 });
    const reserve = await reader('reserve', 1);
    await send(session, [outgoing('orders', 'a')]);
    await clock.advance(0);
    expect(reserve.receiver.lease).toMatchObject({ ms: 1_000, extendable: true });
    expect(reserve.got[0]?.leaseUntilMs).toBe(clock.now() + 1_000);
    await clock.advance(1_000);
    expect(reserve.got.length).toBe(1);
    expect(await reserve.settle(0, { do: 'drop' })).toBe('ok');
    await clock.advance(0);
    expect(reserve.got[1]).toMatchObject({ redelivered: true, nativeCount: 2 });
  });

  it('can be extended; after their end an ack is stale', async () => {
    const { session, reader } = await setup({ leaseMs: 1_000 });
    const reserve = await reader('reserve', 1);
    await send(session, [outgoing('orders', 'a')]);
    await clock.advance(900);
    expect(await reserve.settle(0, { do: 'extend', ms: 1_000 })).toBe('ok');
    await clock.advance(999);
    expect(broker.depth('reserve')).toBe(1);
    await clock.advance(1);
    expect(await reserve.settle(0, { do: 'ack' })).toBe('stale');
    expect(broker.depth('reserve')).toBe(1);
  });
});

describe('lanes', () => {
  it('hand out one message per key at a time, in order, and no other key waits', async () => {
    const { session, reader } = await setup({ lanes: 'group', delays: 'return' });
    const reserve = await reader('reserve');
    await send(session, [
      outgoing('orders', 'a1', { key: 'a' }),
      outgoing('orders', 'a2', { key: 'a' }),
      outgoing('orders', 'b1', { key: 'b' }),
    ]);
    await clock.advance(0);
    expect(reserve.bodies()).toEqual(['a1', 'b1']);
    expect(reserve.got[0]?.lane).toBe('a');
    await reserve.settle(0, { do: 'return', delayMs: 500 });
    await clock.advance(499);
    expect(reserve.bodies()).toEqual(['a1', 'b1']);
    await clock.advance(1);
    await reserve.settle(2, { do: 'ack' });
    await clock.advance(0);
    expect(reserve.bodies()).toEqual(['a1', 'b1', 'a1', 'a2']);
  });
});

describe('topology', () => {
  it('plans by name, and applies twice without a difference', async () => {
    const { session, plan } = await setup();
    expect(plan.address({ at: 'destination', name: 'orders' })).toEqual(['orders']);
    expect(plan.address({ at: 'destination', name: 'unknown' })).toEqual([]);
    expect(plan.address({ at: 'retry', consumer: 'reserve', delayMs: 60_000 })).toEqual([
      'reserve.retry.1m',
    ]);
    expect(plan.address({ at: 'retry', consumer: 'reserve', delayMs: 7 })).toEqual([]);
    expect(plan.address({ at: 'redrive', consumer: 'reserve' })).toEqual(['reserve.retry']);
    expect(plan.address({ at: 'parking', consumer: 'reserve' })).toEqual(['reserve.parking']);
    expect(plan.sources('reserve').map(({ feed }) => feed)).toEqual(['live', 'retry', 'parking']);
    expect(await session.apply(plan.resources, 'create')).toEqual([]);
    expect(await session.apply(plan.resources, 'verify')).toEqual([]);
  });

  it('reports what is missing in verify mode', async () => {
    const driver = memoryQueue();
    const plan = driver.plan(topology);
    const { signal } = new AbortController();
    const session = await driver.open({ plan, clock, signal, notice: () => undefined });
    const drift = await session.apply(plan.resources, 'verify');
    expect(drift.map(({ resource }) => resource)).toEqual(plan.resources.map(({ name }) => name));
  });

  it('refuses a name that means two things', () => {
    const consumer = { from: [], types: [], delaysMs: [] };
    const consumers = [
      { ...consumer, name: 'a' },
      { ...consumer, name: 'a.retry' },
    ];
    expect(() => memoryQueue().plan({ destinations: [], consumers })).toThrow('"a.retry"');
    expect(() =>
      memoryQueue().plan({
        destinations: [{ name: 'a.parking' }],
        consumers: consumers.slice(0, 1),
      }),
    ).toThrow('"a.parking"');
  });

  it('shows depth: ready, held, and the age of the oldest', async () => {
    const { session, reader } = await setup();
    const storedAtMs = clock.now();
    await send(
      session,
      ['a', 'b'].map((body) => outgoing('orders', body)),
    );
    await reader('reserve', 1);
    await clock.advance(50);
    const source = { address: 'reserve', consumer: 'reserve', feed: 'live' } as const;
    expect(await session.inspect(source)).toEqual({
      ready: 1,
      held: 1,
      asOfMs: clock.now(),
      oldestAtMs: storedAtMs,
    });
  });
});
