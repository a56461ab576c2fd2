import { on } from '@ackord/core';
import { describe, expect, it } from 'vitest';
import { memoryLog, memoryQueue } from '../../src/index.ts';
import { changed, Late, Ordered, watched, world } from './fixture.ts';

describe('a destination that is first used by the outbox', () => {
  it('is declared before its first row is sent', async () => {
    const { broker, clock, database, store, bus: createTestBus } = world();
    const bus = createTestBus({ broker: memoryLog({ broker }) });
    await bus.start();
    await store.transaction((tx) => bus.outbox(tx).add(Late({ n: 1 })));
    await clock.runUntil(() => database.outboxRows().length === 0);
    expect(broker.depth('late')).toBe(1);
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
  });
});

describe('a destination that could not be declared at its first use', () => {
  it('is declared at its next use', async () => {
    const { broker, clock, bus: createTestBus } = world();
    let fails = 0;
    const driver = changed(memoryLog({ broker }), (session) => ({
      apply: (resources, mode) => {
        const isLate = resources.some(({ name }) => name === 'late');
        if (isLate && fails++ === 0) return Promise.reject(new Error('not now'));
        return session.apply(resources, mode);
      },
    }));
    const bus = createTestBus({ broker: driver });
    await bus.start();
    const first = watched(bus.publish(Late({ n: 1 })));
    await clock.runUntil(() => first.done);
    expect(first.error).toMatchObject({ code: 'MSG_PUBLISH_UNROUTABLE' });
    await bus.publish(Late({ n: 2 }));
    expect(broker.depth('late')).toBe(1);
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
  });
});

describe('a destination that is first used while a session opens', () => {
  it('is declared on that session', async () => {
    const { broker, clock, bus: createTestBus } = world();
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const driver = changed(memoryLog({ broker }), (session) => ({
      doctor: async () => {
        await gate;
        return session.doctor({ destinations: [], consumers: [] });
      },
    }));
    const bus = createTestBus({ broker: driver });
    const starting = watched(bus.start());
    await clock.advance(100);
    const published = watched(bus.publish(Late({ n: 1 })));
    await clock.advance(100);
    go();
    await clock.runUntil(() => starting.done && published.done);
    expect(published.error).toBeUndefined();
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
  });
});

describe('a declaration without an answer', () => {
  it('does not keep a publish past its deadline', async () => {
    const { broker, clock, bus: createTestBus } = world();
    const driver = changed(memoryLog({ broker }), (session) => ({
      apply: (resources, mode) =>
        resources.some(({ name }) => name === 'late')
          ? new Promise<never>(() => undefined)
          : session.apply(resources, mode),
    }));
    const bus = createTestBus({ broker: driver });
    await bus.start();
    const published = watched(bus.publish(Late({ n: 1 }), { timeoutMs: 2_000 }));
    await clock.runUntil(() => published.done, { limitMs: 3_000 });
    expect(published.error).toBeDefined();
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
  });
});

describe('a consumer that is declared after a first publish', () => {
  it('is read like any other', async () => {
    const { broker, clock, bus: createTestBus } = world();
    const bus = createTestBus({ broker: memoryQueue({ broker }) });
    const early = watched(bus.publish(Ordered({ n: 1 })));
    const got: number[] = [];
    bus.consume('reserve', {}, [
      on(Ordered, ({ data }) => {
        got.push(data.n);
      }),
    ]);
    await bus.start();
    await clock.runUntil(() => early.done);
    expect(early.error).toBeUndefined();
    await clock.runUntil(() => got.length === 1);
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
  });
});
