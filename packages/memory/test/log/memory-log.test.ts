import type { LogSession } from '@ackord/core/driver';
import { ManualClock } from '@ackord/core/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryBroker, type MemoryBrokerOptions } from '../../src/broker/memory-broker.ts';
import { memoryLog } from '../../src/log/memory-log.ts';
import { bytes, open, outgoing, send, text, topology } from '../broker-fixture.ts';
import { reader } from './log-fixture.ts';

/** Longer than a rebalance. */
const REBALANCED_MS = 20;

let clock: ManualClock;
let broker: MemoryBroker;

beforeEach(() => {
  clock = new ManualClock();
  broker = new MemoryBroker({ clock });
});

function setup(partitions = 2, options?: MemoryBrokerOptions): Promise<LogSession> {
  if (options) broker = new MemoryBroker({ clock, ...options });
  return open('log', memoryLog({ broker, partitions }), clock);
}

const numbered = (count: number, key = 'k', to = 'orders') =>
  Array.from({ length: count }, (_, i) => outgoing(to, `${key}${i}`, { key }));

describe('partitions', () => {
  it('keep the order of a key, and spread keys', async () => {
    const session = await setup(4, {});
    const live = await reader(session);
    await send(session, [...numbered(20, 'a'), ...numbered(20, 'b')]);
    await clock.advance(REBALANCED_MS);
    expect(new Set(live.batches.map(({ lane }) => lane)).size).toBe(2);
    expect(live.bodies().filter((body) => body.startsWith('a'))).toEqual(
      numbered(20, 'a').map(({ body }) => text(body)),
    );
  });

  it('have gaps, which batches cover without a hole', async () => {
    const session = await setup(1, { gapEvery: 3 });
    const live = await reader(session);
    await send(session, numbered(120));
    await clock.advance(REBALANCED_MS);
    let end = 0n;
    for (const { from, next } of live.batches) {
      expect(from).toBe(end);
      end = next;
    }
    const positions = live.batches.flatMap(({ records }) => records.map((r) => r.position));
    expect(positions.slice(0, 5)).toEqual([0n, 1n, 2n, 5n, 6n]);
    expect([positions.length, end]).toEqual([120, 200n]);
  });

  it('show key, headers, time and no native id', async () => {
    const session = await setup();
    const live = await reader(session);
    await send(session, [outgoing('orders', 'a', { key: 'k', headers: { h: '1' } })]);
    await clock.advance(REBALANCED_MS);
    expect(live.batches[0]).toMatchObject({ receivedAtMs: clock.now() });
    expect(live.batches[0]?.records).toEqual([
      {
        position: 0n,
        body: bytes('a'),
        headers: { h: '1' },
        key: 'k',
        brokerAtMs: clock.now() - REBALANCED_MS,
        native: { subject: 'orders' },
      },
    ]);
  });

  it('are handed out in batches of bounded bytes', async () => {
    const session = await setup(1);
    const live = await reader(session, 'live', { bytes: 4 });
    await send(session, numbered(4));
    await clock.advance(REBALANCED_MS);
    expect(live.batches.map(({ records }) => records.length)).toEqual([2, 2]);
  });

  it('begin at the end for a new group that asks for the latest', async () => {
    const session = await setup(1);
    await send(session, numbered(3, 'old'));
    const live = await reader(session, 'live', { start: 'latest' });
    await clock.advance(REBALANCED_MS);
    await send(session, numbered(1, 'new'));
    broker.rebalance('reserve');
    await clock.advance(REBALANCED_MS);
    expect(live.bodies()).toEqual(['new0']);
  });

  it('report what retention dropped, and go on where something is left', async () => {
    const session = await setup(1, { gapEvery: 0 });
    await send(session, numbered(5));
    broker.trim('orders#0', 3n);
    const live = await reader(session);
    await clock.advance(REBALANCED_MS);
    expect(live.lanes.get('orders#0')).toMatchObject({ low: 3n, high: 5n });
    expect(live.bodies()).toEqual(['k3', 'k4']);
  });
});

describe('reading', () => {
  it('stops for a paused lane and goes back on seek', async () => {
    const session = await setup(1, { gapEvery: 0 });
    const live = await reader(session);
    await clock.advance(REBALANCED_MS);
    live.receiver.pause('orders#0', true);
    await send(session, numbered(3));
    await clock.advance(0);
    expect(live.bodies()).toEqual([]);
    live.receiver.pause('orders#0', false);
    await clock.advance(0);
    live.receiver.seek('orders#0', 1n);
    await clock.advance(0);
    expect(live.bodies()).toEqual(['k0', 'k1', 'k2', 'k1', 'k2']);
  });

  it('ends with stop, while commits still work', async () => {
    const session = await setup(1);
    const live = await reader(session);
    await send(session, numbered(1));
    await clock.advance(REBALANCED_MS);
    await live.receiver.stop();
    await send(session, numbered(1, 'late'));
    await clock.advance(0);
    expect(live.bodies()).toEqual(['k0']);
    const epoch = live.lanes.get('orders#0')?.epoch ?? -1;
    expect(await live.receiver.commit([{ lane: 'orders#0', epoch, next: 1n }])).toEqual(['ok']);
  });

  it('holds retry topics apart: delay on each record, also of delays no longer configured', async () => {
    const session = await setup(1);
    const without = memoryLog({ broker, partitions: 1 });
    const consumers = topology.consumers.map((c) => ({ ...c, delaysMs: [200] }));
    const plan = without.plan({ ...topology, consumers });
    const { signal } = new AbortController();
    const later = await without.open({ plan, clock, signal, notice: () => undefined });
    if (later.kind !== 'log') throw new Error('not a log');
    const retry = await reader(later, 'retry');
    const parking = await reader(session, 'parking');
    await send(session, [
      outgoing('reserve.retry.200ms', 'short'),
      outgoing('reserve.retry.1m', 'long'),
      outgoing('reserve.redrive', 'redriven'),
      outgoing('reserve.parking', 'parked'),
    ]);
    await clock.advance(REBALANCED_MS);
    const seen = retry.batches.flatMap(({ records }) =>
      records.map(({ body, delayMs }) => [text(body), delayMs]),
    );
    expect(seen.toSorted()).toEqual([
      ['long', 60_000],
      ['redriven', 0],
      ['short', 200],
    ]);
    expect(parking.bodies()).toEqual(['parked']);
    expect(parking.batches[0]?.records[0]).not.toHaveProperty('delayMs');
  });

  it('counts the lag of a group', async () => {
    const session = await setup(1, { gapEvery: 0 });
    const live = await reader(session);
    await send(session, numbered(5));
    await clock.advance(REBALANCED_MS);
    const source = { address: 'reserve', consumer: 'reserve', feed: 'live' } as const;
    expect(await session.inspect(source)).toMatchObject({ ready: 5, held: 0 });
    const epoch = live.lanes.get('orders#0')?.epoch ?? -1;
    await live.receiver.commit([{ lane: 'orders#0', epoch, next: 4n }]);
    expect(await session.inspect(source)).toMatchObject({ ready: 1 });
  });
});

describe('topology', () => {
  it('plans by name, applies twice, and reports what is missing', async () => {
    const driver = memoryLog({ broker, partitions: 3 });
    const plan = driver.plan(topology);
    expect(plan.address({ at: 'destination', name: 'orders' })).toEqual(['orders']);
    expect(plan.address({ at: 'retry', consumer: 'reserve', delayMs: 5_000 })).toEqual([
      'reserve.retry.5s',
    ]);
    expect(plan.address({ at: 'retry', consumer: 'reserve', delayMs: 6 })).toEqual([]);
    expect(plan.address({ at: 'redrive', consumer: 'reserve' })).toEqual(['reserve.redrive']);
    expect(plan.sources('reserve').map(({ address }) => address)).toEqual([
      'reserve',
      'reserve.retry',
      'reserve.parking',
    ]);
    const session = await open('log', driver, clock);
    expect(await session.apply(plan.resources, 'create')).toEqual([]);
    broker.faults.remove('reserve.parking');
    expect(await session.apply(plan.resources, 'verify')).toMatchObject([
      { resource: 'reserve.parking', actual: 'missing' },
    ]);
    const other = memoryLog({ broker, partitions: 5 }).plan(topology);
    expect(await session.apply(other.resources.slice(0, 1), 'verify')).toEqual([
      { resource: 'orders#partitions', expected: '5', actual: '3' },
    ]);
  });
});
