import { createBus, event, on, permanent } from '@ackord/core';
import { ManualClock } from '@ackord/core/testing';
import { MemoryBroker, memoryQueue, memoryStore } from '@ackord/memory';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const Created = event('created', { version: 1, destination: 'd', data: z.object({ n: z.int() }) });

describe('bus.parked', () => {
  it('shows records and foreign messages, and leaves the lot as it is', async () => {
    const clock = new ManualClock();
    const broker = new MemoryBroker({ clock });
    const store = memoryStore({ clock });
    const bus = createBus({ producer: 'p', broker: memoryQueue({ broker }), store, clock });
    bus.consume('c', {}, [on(Created, () => Promise.reject(permanent('never')))]);
    await bus.start();
    await bus.publish(Created({ n: 1 }, { id: 'm1' }));
    await clock.runUntil(() => broker.depth('c.parking') === 1, { limitMs: 5_000 });
    broker.inject('c.parking', { body: new TextEncoder().encode('{'), headers: {}, nativeId: 'f' });
    const reading = bus.parked('c');
    await clock.advance(5_000);
    const parked = await reading;
    expect(parked.map(({ messageId, reason }) => [messageId, reason])).toEqual([
      ['m1', 'permanent'],
      ['f', 'native'],
    ]);
    expect(broker.depth('c.parking')).toBe(2);
    const closing = bus.close();
    await clock.advance(5_000);
    await closing;
  });
});
