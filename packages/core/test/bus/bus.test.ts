import {
  MemoryBroker,
  MemoryDatabase,
  type MemoryTx,
  memoryQueue,
  memoryStore,
} from '@ackord/memory';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Bus } from '../../src/bus/bus.ts';
import type { BusOptions } from '../../src/bus/bus-options.ts';
import { createBus } from '../../src/bus/create-bus.ts';
import { on } from '../../src/consume/handler.ts';
import { event } from '../../src/contract/contract.ts';
import type { BusEvent } from '../../src/observe/events.ts';
import { ManualClock } from '../../src/time/manual-clock.ts';

const Created = event('order.created', {
  version: 1,
  destination: 'orders',
  data: z.object({ n: z.int() }),
});
const Elsewhere = event('other.happened', {
  version: 1,
  destination: 'elsewhere',
  data: z.object({}),
});

class Rig {
  readonly clock = new ManualClock();
  readonly broker = new MemoryBroker({ clock: this.clock });
  readonly database = new MemoryDatabase({ clock: this.clock });
  readonly store = memoryStore({ database: this.database });
  readonly handled: string[] = [];
  readonly events: BusEvent[] = [];

  bus(options: Partial<BusOptions<MemoryTx>> = {}): Bus<MemoryTx> {
    const bus = createBus<MemoryTx>({
      producer: 'tests',
      broker: memoryQueue({ broker: this.broker }),
      store: this.store,
      clock: this.clock,
      random: () => 0.5,
      ...options,
    });
    bus.on((each) => this.events.push(each));
    return bus;
  }

  reading(options: Partial<BusOptions<MemoryTx>> = {}): Bus<MemoryTx> {
    return this.bus(options).consume('reserve', {}, [this.handler()]);
  }

  handler(): ReturnType<typeof on> {
    return on(Created, ({ id }) => void this.handled.push(id)) as ReturnType<typeof on>;
  }
}

const codeOf = async (work: () => unknown): Promise<unknown> => {
  try {
    await work();
    return undefined;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};

describe('createBus', () => {
  it.each([
    { colour: 'red' },
    { connect: { retries: 3 } },
    { publish: { timeout: 0 } },
    { publish: { maxInFlight: 0 } },
    { relay: { owner: 'me' } },
    { producer: ' ' },
    { store: { none: '' } },
    { broker: {} },
    { topology: 'guess' },
  ])('refuses %j', async (options) => {
    const rig = new Rig();
    expect(await codeOf(() => rig.bus(options as object))).toBe('MSG_CONFIG_INVALID');
  });
});

describe('consume', () => {
  it.each([
    [
      'an unknown option',
      (bus: Bus<MemoryTx>, rig: Rig) => bus.consume('a', { tries: 3 } as object, [rig.handler()]),
    ],
    ['no handler', (bus: Bus<MemoryTx>) => bus.consume('a', {}, [])],
    ['a bad name', (bus: Bus<MemoryTx>, rig: Rig) => bus.consume('a b', {}, [rig.handler()])],
  ])('refuses %s', async (_, consume) => {
    const rig = new Rig();
    expect(await codeOf(() => consume(rig.bus(), rig))).toBe('MSG_CONFIG_INVALID');
  });

  it('refuses the same name twice', async () => {
    const rig = new Rig();
    const bus = rig.reading();
    expect(await codeOf(() => bus.consume('reserve', {}, [rig.handler()]))).toBe(
      'MSG_CONFIG_DUPLICATE_CONSUMER',
    );
  });

  it('refuses a dedupe window shorter than what it must span', async () => {
    const rig = new Rig();
    const consume = (): unknown => rig.bus().consume('a', { dedupeWindow: '1h' }, [rig.handler()]);
    expect(await codeOf(consume)).toBe('MSG_CONFIG_DEDUPE_WINDOW');
  });

  it('refuses an ordering policy without a store', async () => {
    const rig = new Rig();
    const bus = rig.bus({ store: { none: 'a test' } });
    const consume = (): unknown => bus.consume('a', { order: 'latest' }, [rig.handler()]);
    expect(await codeOf(consume)).toBe('MSG_CONFIG_NO_STORE');
  });

  it('refuses a consumer once the bus has started', async () => {
    const rig = new Rig();
    const bus = await rig.reading().start();
    expect(await codeOf(() => bus.consume('late', {}, [rig.handler()]))).toBe('MSG_CONFIG_INVALID');
    expect(await codeOf(() => bus.start())).toBe('MSG_CONFIG_INVALID');
  });
});

describe('a bus', () => {
  it('publishes, consumes, relays its outbox', async () => {
    const rig = new Rig();
    const bus = await rig.reading().start();
    const published = bus.publish(Created({ n: 1 }, { id: 'direct' }));
    await rig.clock.advance(0);
    await published;
    await rig.store.transaction(async (tx) => {
      await bus.outbox(tx).add(Created({ n: 2 }, { id: 'relayed' }));
    });
    await rig.clock.advance(100);
    expect(rig.handled).toEqual(['direct', 'relayed']);
    expect(rig.database.outboxRows()).toEqual([]);
  });

  it('sends no outbox rows where the relay is switched off', async () => {
    const rig = new Rig();
    const bus = await rig.reading({ relay: false }).start();
    await rig.store.transaction((tx) => bus.outbox(tx).add(Created({ n: 1 })));
    await rig.clock.advance(60_000);
    expect(rig.handled).toEqual([]);
    expect(rig.database.outboxRows()).toHaveLength(1);
  });

  it('has no outbox without a store', async () => {
    const rig = new Rig();
    const bus = rig.bus({ store: { none: 'a test' } });
    expect(await codeOf(() => bus.outbox({} as MemoryTx))).toBe('MSG_CONFIG_NO_STORE');
  });

  it('settles each of many publishes by itself', async () => {
    const rig = new Rig();
    const bus = await rig.reading().start();
    const results = bus.publishMany([
      Created({ n: 1 }, { id: 'good' }),
      Created({ n: 'x' as unknown as number }, { id: 'wrong' }),
      Elsewhere({}, { id: 'nobody' }),
    ]);
    await rig.clock.advance(0);
    expect(await results).toMatchObject([
      { id: 'good', outcome: 'confirmed' },
      { id: 'wrong', outcome: 'rejected', error: { code: 'MSG_CONTRACT_INVALID_DATA' } },
      { id: 'nobody', outcome: 'rejected', error: { code: 'MSG_PUBLISH_UNROUTABLE' } },
    ]);
  });

  it('refuses to assign a version outside of a transaction', async () => {
    const rig = new Rig();
    const bus = await rig.reading().start();
    const draft = Created({ n: 1 }, { aggregate: { type: 'order', id: 'a', version: 'next' } });
    expect(await codeOf(() => bus.publish(draft))).toBe('MSG_CONFIG_INVALID');
  });

  it('keeps a publish for a connection that comes in time, else tells at the deadline', async () => {
    const rig = new Rig();
    const bus = await rig.reading({ publish: { timeout: '2s' } }).start();
    rig.broker.faults.refuseOpen('connection');
    rig.broker.loseSession();
    await rig.clock.advance(0);
    const first = bus.publishMany([Created({ n: 1 }, { id: 'first' })]);
    await rig.clock.advance(2_050);
    expect(await first).toMatchObject([
      { outcome: 'unknown', error: { code: 'MSG_PUBLISH_UNCONFIRMED' } },
    ]);
    expect((await first)[0]).toHaveProperty('error.message', expect.stringMatching(/was not sent/));
    const second = codeOf(() => bus.publish(Created({ n: 2 }, { id: 'second' })));
    rig.broker.faults.clear();
    await rig.clock.advance(1_900);
    expect(await second).toBeUndefined();
    expect(rig.handled).toEqual(['second']);
  });

  it('tells its health by what it does', async () => {
    const rig = new Rig();
    const bus = rig.reading();
    expect(bus.health().status).toBe('unhealthy');
    await bus.start();
    expect(bus.health()).toEqual({ status: 'healthy', reasons: [] });
    rig.broker.faults.remove('reserve.retry');
    await rig.clock.advance(0);
    expect(bus.health()).toMatchObject({ status: 'degraded' });
    rig.broker.faults.refuseOpen('connection', 3);
    rig.broker.loseSession();
    await rig.clock.advance(0);
    expect(bus.health()).toMatchObject({ status: 'unhealthy' });
    rig.broker.faults.clear();
    await rig.clock.advance(5_000);
    expect(bus.health().status).toBe('healthy');
    const closing = bus.close();
    await rig.clock.advance(100);
    await closing;
    expect(bus.health().status).toBe('unhealthy');
  });

  it('reads on after a lost session', async () => {
    const rig = new Rig();
    const bus = await rig.reading().start();
    rig.broker.loseSession();
    await rig.clock.advance(1_000);
    const published = bus.publish(Created({ n: 1 }, { id: 'm' }));
    await rig.clock.advance(100);
    await published;
    expect(rig.handled).toEqual(['m']);
  });

  it('closes once, after what runs has ended, and publishes nothing afterwards', async () => {
    const rig = new Rig();
    const { promise, resolve } = Promise.withResolvers<void>();
    const bus = await rig
      .bus()
      .consume('reserve', {}, [
        on(Created, async ({ id }) => {
          await promise;
          rig.handled.push(id);
        }) as ReturnType<typeof on>,
      ])
      .start();
    const published = bus.publish(Created({ n: 1 }, { id: 'm' }));
    await rig.clock.advance(0);
    await published;
    let isClosed = false;
    const closings = [bus.close(), bus.close()];
    const closed = Promise.all(closings).then(() => {
      isClosed = true;
    });
    await rig.clock.advance(500);
    expect(isClosed).toBe(false);
    resolve();
    await rig.clock.advance(500);
    await closed;
    expect(rig.handled).toEqual(['m']);
    expect(rig.broker.depth('reserve')).toBe(0);
    expect(await codeOf(() => bus.publish(Created({ n: 2 })))).toBe('MSG_PUBLISH_CLOSED');
    expect(rig.clock.pending()).toBe(0);
    await bus[Symbol.asyncDispose]();
  });

  it('gives back what a handler could not end before the deadline of the close', async () => {
    const rig = new Rig();
    const bus = await rig
      .bus()
      .consume('reserve', {}, [
        on(Created, () => new Promise(() => undefined)) as ReturnType<typeof on>,
      ])
      .start();
    const published = bus.publish(Created({ n: 1 }, { id: 'm' }));
    await rig.clock.advance(0);
    await published;
    const closing = bus.close({ timeout: '1s' });
    await rig.clock.advance(20_000);
    await closing;
    expect(rig.events).toContainEqual({
      event: 'shutdown.leftovers',
      consumer: 'reserve',
      running: 1,
      unsettled: 1,
    });
    expect(rig.broker.depth('reserve')).toBe(1);
    expect(rig.database.attemptRows()).toEqual([]);
  });

  it('is closed when its start fails', async () => {
    const rig = new Rig();
    rig.broker.faults.refuseOpen('auth');
    const starting = codeOf(() => rig.reading().start());
    await rig.clock.advance(2_000);
    expect(await starting).toBe('MSG_CONNECT_AUTH');
    expect(rig.clock.pending()).toBe(0);
  });

  it('waits for a store that goes down while it starts', async () => {
    const rig = new Rig();
    const { doctor } = rig.store;
    let down = true;
    const store = {
      ...rig.store,
      doctor: () => {
        if (!down) return doctor();
        down = false;
        rig.database.down();
        return rig.store.open(new AbortController().signal).then(doctor);
      },
    };
    const starting = codeOf(() => rig.reading({ store }).start());
    await rig.clock.advance(0);
    rig.database.up();
    await rig.clock.advance(1_000);
    expect(await starting).toBeUndefined();
  });

  it('waits for a store that is down at the start, no longer than it may', async () => {
    const rig = new Rig();
    rig.database.down();
    const first = codeOf(() => rig.reading({ connect: { timeout: '3s' } }).start());
    await rig.clock.advance(4_000);
    expect(await first).toBe('MSG_STORE_UNAVAILABLE');
    const second = codeOf(() => rig.reading({ connect: { timeout: '3s' } }).start());
    await rig.clock.advance(1_000);
    rig.database.up();
    await rig.clock.advance(2_000);
    expect(await second).toBeUndefined();
  });

  it('refuses a delay that the profile cannot hold', async () => {
    const rig = new Rig();
    const bus = rig
      .bus()
      .consume('a', { retry: { delays: ['60d'] }, dedupeWindow: '100d' }, [rig.handler()]);
    const starting = codeOf(() => bus.start());
    await rig.clock.advance(2_000);
    expect(await starting).toBe('MSG_CONFIG_DELAY_TOO_LONG');
  });
});
