import type { LogSession } from '@ackord/core/driver';
import { ManualClock } from '@ackord/core/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryBroker } from '../../src/broker/memory-broker.ts';
import { memoryLog } from '../../src/log/memory-log.ts';
import { open, outgoing, send } from '../broker-fixture.ts';
import { type Reader, reader } from './log-fixture.ts';

const REBALANCED_MS = 20;

let clock: ManualClock;
let broker: MemoryBroker;

beforeEach(() => {
  clock = new ManualClock();
  broker = new MemoryBroker({ clock, gapEvery: 0, rebalanceMs: REBALANCED_MS });
});

const setup = (partitions: number): Promise<LogSession> =>
  open('log', memoryLog({ broker, partitions }), clock);

const filled = async (session: LogSession, count: number): Promise<void> => {
  const batch = Array.from({ length: count }, (_, i) => outgoing('orders', `m${i}`, { key: 'k' }));
  await send(session, batch);
};

const epochOf = (member: Reader, lane: string): number => member.lanes.get(lane)?.epoch ?? -1;

describe('members', () => {
  it('share the lanes, and each lane has one owner', async () => {
    const one = await reader(await setup(4));
    await clock.advance(REBALANCED_MS);
    expect(one.lanes.size).toBe(4);
    const two = await reader(await setup(4));
    await clock.advance(REBALANCED_MS);
    expect([one.lanes.size, two.lanes.size]).toEqual([2, 2]);
    expect(new Set([...one.lanes.keys(), ...two.lanes.keys()]).size).toBe(4);
  });

  it('are told to settle before lanes move; a lane that stays gets a new epoch', async () => {
    const one = await reader(await setup(2));
    await clock.advance(REBALANCED_MS);
    one.told.length = 0;
    await reader(await setup(2));
    expect(one.told).toEqual(['unsettled orders#0 1', 'unsettled orders#1 1']);
    await clock.advance(REBALANCED_MS);
    expect(one.told.slice(2)).toEqual(['revoked orders#1 1', 'assigned orders#0 2']);
  });

  it('can commit until the lane moves, and never after', async () => {
    const session = await setup(1);
    const one = await reader(session);
    await filled(session, 3);
    await clock.advance(REBALANCED_MS);
    const epoch = epochOf(one, 'orders#0');
    const two = await reader(await setup(1));
    broker.rebalance('reserve');
    const mark = { lane: 'orders#0', epoch, next: 2n, note: 'd1' };
    expect(await one.receiver.commit([mark])).toEqual(['ok']);
    await clock.advance(REBALANCED_MS);
    broker.rebalance('reserve');
    await clock.advance(REBALANCED_MS);
    const owner = one.lanes.size > 0 ? one : two;
    expect(await one.receiver.commit([{ ...mark, next: 3n }])).toEqual(['stale']);
    expect(owner.lanes.get('orders#0')).toMatchObject({ committed: 2n, note: 'd1' });
    expect(broker.commits('reserve')).toEqual([{ lane: 'orders#0', next: 2n, note: 'd1' }]);
  });

  it('begin at what is committed, and repeat the rest', async () => {
    const session = await setup(1);
    const one = await reader(session);
    await filled(session, 3);
    await clock.advance(REBALANCED_MS);
    const epoch = epochOf(one, 'orders#0');
    await one.receiver.commit([{ lane: 'orders#0', epoch, next: 1n, note: 'x' }]);
    await one.receiver.commit([{ lane: 'orders#0', epoch, next: 2n }]);
    await one.receiver.leave();
    const two = await reader(await setup(1));
    await clock.advance(REBALANCED_MS);
    expect(two.lanes.get('orders#0')).toEqual({
      lane: 'orders#0',
      epoch: epoch + 1,
      committed: 2n,
      low: 0n,
      high: 3n,
    });
    expect(two.bodies()).toEqual(['m2']);
    expect(await one.receiver.commit([{ lane: 'orders#0', epoch, next: 3n }])).toEqual(['stale']);
  });

  it('get nothing while lanes move, and everything after', async () => {
    const session = await setup(1);
    const one = await reader(session);
    await clock.advance(REBALANCED_MS);
    broker.rebalance('reserve');
    await filled(session, 2);
    await clock.advance(REBALANCED_MS - 1);
    expect(one.bodies()).toEqual([]);
    await clock.advance(1);
    expect(one.bodies()).toEqual(['m0', 'm1']);
  });

  it('hand over when a forced rebalance moves lanes', async () => {
    const one = await reader(await setup(2));
    const two = await reader(await setup(2));
    await clock.advance(REBALANCED_MS);
    const before = [...one.lanes.keys()];
    broker.rebalance('reserve');
    await clock.advance(REBALANCED_MS);
    expect([...two.lanes.keys()]).toEqual(before);
  });
});

describe('faults', () => {
  it('a lost session says nothing to its sinks, and its lanes go to the others', async () => {
    const first = await setup(2);
    const one = await reader(first);
    const two = await reader(await setup(2));
    await clock.advance(REBALANCED_MS);
    const told = one.told.length;
    broker.loseSession(first.id);
    expect(await first.lost).toMatchObject({ kind: 'connection' });
    await filled(await setup(2), 2);
    await clock.advance(REBALANCED_MS);
    expect([two.lanes.size, two.bodies()]).toEqual([2, ['m0', 'm1']]);
    expect([one.told.length, one.faults]).toEqual([told, []]);
    const lane = 'orders#0';
    expect(await one.receiver.commit([{ lane, epoch: 1, next: 1n }])).toEqual(['stale']);
  });

  it('a lost commit is unknown and without effect', async () => {
    const session = await setup(1);
    const one = await reader(session);
    await filled(session, 1);
    await clock.advance(REBALANCED_MS);
    broker.faults.loseSettles(1);
    const mark = { lane: 'orders#0', epoch: epochOf(one, 'orders#0'), next: 1n };
    expect(await one.receiver.commit([mark])).toEqual(['unknown']);
    expect(broker.commits('reserve')).toEqual([]);
  });

  it('a topic that goes away ends its readers and refuses sends', async () => {
    const session = await setup(1);
    const one = await reader(session);
    await clock.advance(REBALANCED_MS);
    broker.faults.remove('orders');
    expect(one.faults).toMatchObject([{ fault: { kind: 'missing' }, ended: true }]);
    expect(await send(session, [outgoing('orders', 'a')])).toMatchObject([
      { is: 'rejected', kind: 'unroutable' },
    ]);
    await expect(reader(session)).rejects.toMatchObject({ kind: 'missing' });
    broker.faults.restore('orders');
    const again = await reader(session);
    broker.inject('orders', { key: 'k' });
    await clock.advance(REBALANCED_MS);
    expect([again.batches.length, broker.depth('orders'), broker.sent('orders')]).toEqual([
      1, 1, 1,
    ]);
  });

  it('a closed session gives its lanes up and stays silent', async () => {
    const session = await setup(1);
    const one = await reader(session);
    await clock.advance(REBALANCED_MS);
    await session.close();
    await session.close();
    await clock.advance(REBALANCED_MS);
    expect(one.told).toEqual(['assigned orders#0 1']);
    await expect(session.apply([], 'verify')).rejects.toMatchObject({ kind: 'connection' });
  });
});
