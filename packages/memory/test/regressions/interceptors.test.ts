import { on, permanent, type StepName, transient } from '@ackord/core';
import type { Driver } from '@ackord/core/driver';
import { describe, expect, it } from 'vitest';
import { type MemoryBroker, type MemoryTx, memoryLog, memoryQueue } from '../../src/index.ts';
import { Ordered, watched, world } from './fixture.ts';

const STEPS: readonly StepName[] = [
  'received',
  'decoded',
  'inbox.claimed',
  'handler.before',
  'handler.after',
  'commit.before',
  'commit.after',
  'attempt.recorded',
  'ack.before',
  'ack.after',
  'retry.copy.before',
  'retry.copy.confirmed',
  'return.before',
  'park.copy.before',
  'park.copy.confirmed',
  'outbox.publish.sent',
  'outbox.confirmed',
];

const PROFILES: readonly [string, (broker: MemoryBroker) => Driver][] = [
  ['queue with buckets', (broker) => memoryQueue({ broker })],
  ['queue with returns', (broker) => memoryQueue({ broker, delays: 'return' })],
  ['log', (broker) => memoryLog({ broker })],
];

describe.each(PROFILES)('an interceptor that throws once over a %s', (_profile, driverOf) => {
  it.each(STEPS)('at %s costs no message and no effect', async (failing) => {
    const { broker, clock, database, store, bus: createTestBus } = world();
    const thrown = new Set<string>();
    const bus = createTestBus({
      broker: driverOf(broker),
      intercept: (step, { messageId }) => {
        if (step !== failing || thrown.has(messageId)) return;
        thrown.add(messageId);
        throw transient(`the interceptor of ${step}`);
      },
    });
    const runs = new Map<string, number>();
    bus.consume('reserve', { retry: { delays: ['1s'], maxAttempts: 4 } }, [
      on(Ordered, async ({ id }, { tx }) => {
        const run = (runs.get(id) ?? 0) + 1;
        runs.set(id, run);
        await (tx as MemoryTx).effect<number>(id, (before = 0) => before + 1);
        if (id === 'later' && run === 1) throw transient('not yet');
        if (id === 'never') throw permanent('never');
      }),
    ]);
    await bus.start();
    await store.transaction((tx) =>
      bus.outbox(tx).add(...['at-once', 'later', 'never'].map((id, n) => Ordered({ n }, { id }))),
    );
    const parkedIds = (): Set<string> =>
      new Set(broker.dump('reserve.parking').map(({ headers }) => headers['ackord-park-id'] ?? ''));
    await clock.runUntil(
      () =>
        database.effect('at-once') === 1 &&
        database.effect('later') === 1 &&
        parkedIds().has('never') &&
        database.outboxRows().length === 0,
      { limitMs: 120_000 },
    );
    await clock.advance(30_000);
    expect(database.effects('at-once')).toBe(1);
    expect(database.effects('later')).toBe(1);
    expect(database.effects('never')).toBe(0);
    expect(parkedIds()).toEqual(new Set(['never']));
    expect(database.openTransactions()).toBe(0);
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
    // A log's broker moves the lanes of a member that left.
    await clock.advance(1_000);
    expect(clock.pending()).toBe(0);
  });
});
