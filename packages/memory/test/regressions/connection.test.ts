import { on } from '@ackord/core';
import { describe, expect, it } from 'vitest';
import { memoryQueue } from '../../src/index.ts';
import { changed, Ordered, watched, world } from './fixture.ts';

const never = new Promise<never>(() => undefined);

describe('a connection', () => {
  it('is not opened hot when every session is lost as soon as it is open', async () => {
    const { broker, clock, bus: createTestBus } = world();
    let opened = 0;
    const driver = changed(memoryQueue({ broker }), (session) => {
      opened += 1;
      const { id } = session;
      return {
        doctor: () => {
          setImmediate(() => broker.loseSession(id));
          return Promise.resolve([]);
        },
      };
    });
    const bus = createTestBus({ broker: driver });
    await bus.start();
    await clock.advance(60_000);
    expect(opened).toBeLessThan(40);
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
  });

  it('starts or fails in time when the broker does not answer', async () => {
    const { broker, clock, bus: createTestBus } = world();
    const driver = changed(memoryQueue({ broker }), () => ({ apply: () => never }));
    const bus = createTestBus({ broker: driver, connect: { timeout: '5s' } });
    const starting = watched(bus.start());
    await clock.runUntil(() => starting.done, { limitMs: 30_000 });
    expect(starting.error).toMatchObject({ code: 'MSG_CONNECT_UNREACHABLE' });
  });

  it('closes in time while the broker does not answer', async () => {
    const { broker, clock, bus: createTestBus } = world();
    const driver = changed(memoryQueue({ broker }), () => ({ receive: () => never }));
    const bus = createTestBus({ broker: driver });
    bus.consume('reserve', {}, [on(Ordered, () => undefined)]);
    const starting = watched(bus.start());
    await clock.advance(1_000);
    const closing = watched(bus.close({ timeout: 1_000 }));
    await clock.runUntil(() => closing.done && starting.done, { limitMs: 20_000 });
    expect(starting.error).toMatchObject({ code: 'MSG_CONNECT_CLOSED' });
  });
});

describe('a bus that is closed while it starts', () => {
  it('opens nothing afterwards and leaves no timer', async () => {
    const { broker, clock, database, bus: createTestBus } = world();
    database.down();
    const bus = createTestBus();
    const starting = watched(bus.start());
    await clock.advance(1_000);
    await bus.close();
    database.up();
    await clock.advance(60_000);
    expect(starting.done).toBe(true);
    expect(starting.error).toBeDefined();
    expect(broker.sessions()).toEqual([]);
    expect(clock.pending()).toBe(0);
  });
});
