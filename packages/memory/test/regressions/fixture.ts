import { type Bus, type BusEvent, type BusOptions, createBus, event } from '@ackord/core';
import type { BaseSession, Driver, LogSession, QueueSession } from '@ackord/core/driver';
import { ManualClock } from '@ackord/core/testing';
import { z } from 'zod';
import {
  MemoryBroker,
  MemoryDatabase,
  type MemoryStore,
  type MemoryTx,
  memoryQueue,
  memoryStore,
} from '../../src/index.ts';

export const Ordered = event('ordered', {
  version: 1,
  destination: 'orders',
  data: z.object({ n: z.int() }),
});

export const Late = event('late', {
  version: 1,
  destination: 'late',
  data: z.object({ n: z.int() }),
});

export interface World {
  readonly clock: ManualClock;
  readonly broker: MemoryBroker;
  readonly database: MemoryDatabase;
  readonly store: MemoryStore;
  readonly events: BusEvent[];
  bus(options?: Partial<BusOptions<MemoryTx>>): Bus<MemoryTx>;
}

export function world(): World {
  const clock = new ManualClock();
  const broker = new MemoryBroker({ clock });
  const database = new MemoryDatabase({ clock });
  const store = memoryStore({ database });
  const events: BusEvent[] = [];
  return {
    clock,
    broker,
    database,
    store,
    events,
    bus(options = {}) {
      const bus = createBus<MemoryTx>({
        producer: 'tests',
        broker: memoryQueue({ broker }),
        store,
        clock,
        random: () => 0.5,
        ...options,
      });
      bus.on((each) => events.push(each));
      return bus;
    },
  };
}

/** A driver whose sessions go through `change`; the session keeps everything that is not replaced. */
export function changed(
  driver: Driver,
  change: (session: QueueSession | LogSession) => Partial<BaseSession & QueueSession>,
): Driver {
  return {
    profile: driver.profile,
    broker: driver.broker,
    plan: (topology) => driver.plan(topology),
    classify: (error) => driver.classify(error),
    async open(io) {
      const session = await driver.open(io);
      const parts = change(session);
      return new Proxy(session, {
        get(target, name) {
          if (name in parts) return Reflect.get(parts, name);
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
}

/** True once the promise has settled; its failure counts. */
export function watched(work: Promise<unknown>): { done: boolean; error?: unknown } {
  const seen: { done: boolean; error?: unknown } = { done: false };
  work.then(
    () => {
      seen.done = true;
    },
    (error: unknown) => {
      seen.done = true;
      seen.error = error;
    },
  );
  return seen;
}
