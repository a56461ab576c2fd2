import { on } from '@ackord/core';
import { describe, expect, it } from 'vitest';
import { memoryQueue } from '../../src/index.ts';
import { changed, Ordered, watched, world } from './fixture.ts';

describe('a bus that closes after its session was lost', () => {
  it('waits for the handlers of that session', async () => {
    const { broker, clock, bus: createTestBus } = world();
    const bus = createTestBus();
    let running = 0;
    bus.consume('reserve', {}, [
      on(Ordered, async () => {
        running += 1;
        await new Promise<void>((resolve) => clock.after(3_000, resolve));
        running -= 1;
      }),
    ]);
    await bus.start();
    await bus.publish(Ordered({ n: 1 }));
    await clock.runUntil(() => running === 1);
    broker.faults.refuseOpen('connection');
    broker.loseSession();
    await clock.advance(500);
    const closing = watched(bus.close({ timeout: 10_000 }));
    await clock.runUntil(() => closing.done);
    expect(running).toBe(0);
  });

  it('aborts handlers of that session past the deadline', async () => {
    const { broker, clock, events, bus: createTestBus } = world();
    const bus = createTestBus();
    let aborted = false;
    bus.consume('reserve', { handlerTimeout: '1m' }, [
      on(Ordered, async (_message, { signal }) => {
        await new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => resolve(), { once: true }),
        );
        aborted = true;
      }),
    ]);
    await bus.start();
    await bus.publish(Ordered({ n: 1 }));
    await clock.advance(100);
    broker.faults.refuseOpen('connection');
    broker.loseSession();
    await clock.advance(500);
    const closing = watched(bus.close({ timeout: 2_000 }));
    await clock.runUntil(() => closing.done, { limitMs: 20_000 });
    expect(aborted).toBe(true);
    expect(events).toContainEqual(
      expect.objectContaining({ event: 'shutdown.leftovers', running: 1 }),
    );
  });
});

describe('a receiver that ends as soon as it was opened', () => {
  it('is opened again with a growing back-off', async () => {
    const { broker, clock, bus: createTestBus } = world();
    let opened = 0;
    const driver = changed(memoryQueue({ broker }), (session) => ({
      receive: async (source, attach) => {
        if (session.kind !== 'queue') return;
        await session.receive(source, (receiver) => {
          const sink = attach(receiver);
          if (source.feed === 'live') {
            opened += 1;
            clock.after(1, () => sink.fault({ kind: 'cancelled' }, true));
          }
          return sink;
        });
      },
    }));
    const bus = createTestBus({ broker: driver });
    bus.consume('reserve', {}, [on(Ordered, () => undefined)]);
    await bus.start();
    await clock.advance(60_000);
    expect(opened).toBeLessThan(20);
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
  });
});

describe('a receiver that attaches after its session was lost', () => {
  it('leaves no timer behind', async () => {
    const { broker, clock, bus: createTestBus } = world();
    const attachLate: (() => void)[] = [];
    const driver = changed(memoryQueue({ broker, leaseMs: 30_000 }), (session) => ({
      receive: async (_source, attach) => {
        if (session.kind !== 'queue') return;
        await new Promise<void>((resolve) => attachLate.push(resolve));
        attach({
          lease: { ms: 30_000, extendable: true, maxMs: 60_000 },
          setWindow: () => undefined,
          settle: (batch) => Promise.resolve(batch.map(() => 'stale' as const)),
          stop: () => Promise.resolve(),
          close: () => Promise.resolve(),
        });
      },
    }));
    const bus = createTestBus({ broker: driver });
    bus.consume('reserve', {}, [on(Ordered, () => undefined)]);
    const starting = watched(bus.start());
    await clock.advance(100);
    const closing = watched(bus.close({ timeout: 1_000 }));
    await clock.runUntil(() => closing.done && starting.done, { limitMs: 20_000 });
    for (const resolve of attachLate) resolve();
    await clock.advance(100);
    expect(clock.pending()).toBe(0);
  });
});

describe('a topology that is applied again without an answer', () => {
  it('does not keep the bus from closing', async () => {
    const { broker, clock, bus: createTestBus } = world();
    let applies = 0;
    const driver = changed(memoryQueue({ broker }), (session) => ({
      apply: (resources, mode) => {
        applies += 1;
        return applies === 1 ? session.apply(resources, mode) : new Promise<never>(() => undefined);
      },
    }));
    const bus = createTestBus({ broker: driver });
    bus.consume('reserve', {}, [on(Ordered, () => undefined)]);
    await bus.start();
    broker.faults.remove('reserve');
    await clock.advance(1_000);
    expect(applies).toBe(2);
    const closing = watched(bus.close({ timeout: 1_000 }));
    await clock.runUntil(() => closing.done, { limitMs: 30_000 });
  });
});
