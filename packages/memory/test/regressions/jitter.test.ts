import { on, transient } from '@ackord/core';
import type { Driver } from '@ackord/core/driver';
import { describe, expect, it } from 'vitest';
import { type MemoryBroker, memoryLog, memoryQueue } from '../../src/index.ts';
import { Ordered, watched, world } from './fixture.ts';

const PROFILES: readonly [string, (broker: MemoryBroker) => Driver, number][] = [
  // The next longer place would be six times as long.
  ['buckets', (broker) => memoryQueue({ broker }), 5_000],
  ['retry topics', (broker) => memoryLog({ broker }), 5_000],
  ['returns', (broker) => memoryQueue({ broker, delays: 'return' }), 5_500],
];

describe('jitter', () => {
  it.each(PROFILES)('over %s adds only what they can hold', async (_name, driverOf, delayMs) => {
    const { broker, clock, events, bus: createTestBus } = world();
    const bus = createTestBus({ broker: driverOf(broker) });
    let runs = 0;
    bus.consume('reserve', { retry: { delays: ['5s', '30s'], jitter: 0.2 } }, [
      on(Ordered, () => {
        runs += 1;
        if (runs === 1) throw transient('not yet');
      }),
    ]);
    await bus.start();
    await bus.publish(Ordered({ n: 1 }));
    await clock.runUntil(() => runs === 2);
    expect(events).toContainEqual(expect.objectContaining({ event: 'message.retried', delayMs }));
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
  });
});
