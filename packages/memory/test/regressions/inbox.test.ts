import { BusinessRejection, on, transient } from '@ackord/core';
import type { Store } from '@ackord/core/store';
import { describe, expect, it } from 'vitest';
import type { MemoryTx } from '../../src/index.ts';
import { Late, Ordered, watched, world } from './fixture.ts';

const at = (version: number) => ({ aggregate: { type: 'order', id: 'o1', version } });

describe('a business rejection under the policy latest', () => {
  it('is stale when a higher version was applied between its two transactions', async () => {
    const { broker, clock, events, store, database, bus: createTestBus } = world();
    const applied: number[] = [];
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begins = 0;
    // The second transaction of version 1 waits until version 3 is applied.
    const slow: Store<MemoryTx> = {
      ...store,
      inbox: {
        purge: (options) => store.inbox.purge(options),
        begin: async (claims, signal) => {
          if (claims[0]?.messageId === 'v1' && ++begins === 2) await held;
          return store.inbox.begin(claims, signal);
        },
      },
    };
    const bus = createTestBus({ store: slow });
    bus.consume('reserve', { order: 'latest' }, [
      on(Ordered, async ({ aggregate }, { tx }) => {
        const version = aggregate?.version ?? 0;
        if (version === 1) throw new BusinessRejection(Late({ n: 1 }, { id: 'answer' }));
        applied.push(version);
        await (tx as MemoryTx).effect('last', () => version);
      }),
    ]);
    await bus.start();
    await bus.publish(Ordered({ n: 1 }, { id: 'v1', ...at(1) }));
    await clock.runUntil(() => begins === 2);
    await bus.publish(Ordered({ n: 3 }, { id: 'v3', ...at(3) }));
    await clock.runUntil(() => applied.length === 1);
    release();
    await clock.runUntil(() => broker.depth('reserve') === 0);
    expect(events).toContainEqual(expect.objectContaining({ event: 'message.stale' }));
    expect(database.inboxRows()).toContainEqual(
      expect.objectContaining({ messageId: 'v1', outcome: 'stale' }),
    );
    expect(database.outboxRows()).toEqual([]);
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
  });
});

describe('a COMMIT without an answer in the last attempt', () => {
  it('is not parked: the Inbox decides when it comes again', async () => {
    const { broker, clock, database, bus: createTestBus } = world();
    const bus = createTestBus();
    bus.consume('reserve', { retry: { delays: ['1s'], maxAttempts: 1 } }, [
      on(Ordered, async (_message, { tx }) => {
        await (tx as MemoryTx).effect<number>('effect', (before = 0) => before + 1);
      }),
    ]);
    await bus.start();
    database.loseNextCommit('after');
    await bus.publish(Ordered({ n: 1 }));
    await clock.runUntil(() => broker.depth('reserve') === 0);
    expect(database.effects('effect')).toBe(1);
    expect(broker.depth('reserve.parking')).toBe(0);
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
  });
});

describe('a message that the handler adds without waiting', () => {
  it('is part of the commit', async () => {
    const { broker, clock, database, bus: createTestBus } = world();
    const bus = createTestBus({ relay: false });
    bus.consume('reserve', {}, [
      on(Ordered, (_message, { outbox }) => {
        // As a handler must not do it: nobody awaits the answer.
        void outbox.add(
          Late({ n: 1 }, { aggregate: { type: 'order', id: 'o1', version: 'next' } }),
          Late({ n: 2 }, { aggregate: { type: 'order', id: 'o1', version: 'next' } }),
        );
      }),
    ]);
    await bus.start();
    await bus.publish(Ordered({ n: 1 }));
    await clock.runUntil(() => broker.depth('reserve') === 0);
    expect(database.outboxRows()).toHaveLength(2);
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
  });

  it('fails the run when it cannot be added', async () => {
    const { broker, clock, database, bus: createTestBus } = world();
    const bus = createTestBus({ relay: false });
    let runs = 0;
    bus.consume('reserve', { retry: { delays: ['1s'] } }, [
      on(Ordered, (_message, { outbox }) => {
        runs += 1;
        void outbox.add(Late({ n: runs === 1 ? 0.5 : 1 }));
        if (runs === 0) throw transient('never');
      }),
    ]);
    await bus.start();
    await bus.publish(Ordered({ n: 1 }));
    await clock.runUntil(() => broker.depth('reserve') === 0);
    await clock.advance(2_000);
    expect(broker.depth('reserve.parking')).toBe(1);
    expect(database.inboxRows()).toEqual([]);
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
  });
});
