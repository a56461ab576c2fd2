import { MemoryBroker, memoryQueue } from '@ackord/memory';
import { describe, expect, it } from 'vitest';
import type { Drift, Driver, QueueSession } from '../../src/driver/driver.ts';
import { TopologyBook } from '../../src/driver/topology-book.ts';
import { Connection, type ConnectionOptions } from '../../src/lifecycle/connection.ts';
import { type BusEvent, EventOutlet } from '../../src/observe/events.ts';
import { ManualClock } from '../../src/time/manual-clock.ts';

const STABLE_MS = 10_000;

class Rig {
  readonly clock = new ManualClock();
  readonly broker = new MemoryBroker({ clock: this.clock });
  readonly events: BusEvent[] = [];
  /** `opened` and `lost`, in order. */
  readonly told: string[] = [];
  readonly openedAtMs: number[] = [];
  readonly connection: Connection;

  constructor(options: Partial<ConnectionOptions> = {}, driver?: Driver) {
    const events = new EventOutlet();
    events.on((event) => this.events.push(event));
    const through = driver ?? memoryQueue({ broker: this.broker });
    this.connection = new Connection({
      driver: through,
      book: new TopologyBook(through, { destinations: [{ name: 'orders' }], consumers: [] }),
      mode: 'create',
      clock: this.clock,
      random: () => 1,
      events,
      backoff: { baseMs: 100, capMs: 1_000 },
      startTimeoutMs: 5_000,
      opened: () => {
        this.told.push('opened');
        this.openedAtMs.push(this.clock.now());
        return Promise.resolve();
      },
      lost: () => this.told.push('lost'),
      ...options,
    });
  }

  /** What `start()` came to, once the clock has moved by `ms`. */
  async started(ms = 0): Promise<unknown> {
    let outcome: unknown = 'pending';
    this.connection.start().then(
      () => {
        outcome = 'started';
      },
      (error: unknown) => {
        outcome = error;
      },
    );
    await this.clock.advance(ms);
    return outcome;
  }

  get pauses(): readonly number[] {
    return this.events.flatMap((event) =>
      event.event === 'connection.failed' ? [event.nextTryInMs] : [],
    );
  }
}

/** A driver whose `apply` answers with this drift, or throws. */
function drifting(drift: () => readonly Drift[]): Driver {
  const driver = memoryQueue();
  return {
    ...driver,
    async open(io) {
      const session = (await driver.open(io)) as QueueSession;
      return new Proxy(session, {
        get: (of, name) => {
          if (name === 'apply') return async () => drift();
          const value: unknown = Reflect.get(of, name, of);
          return typeof value === 'function' ? (value.bind(of) as unknown) : value;
        },
      });
    },
  };
}

describe('a connection', () => {
  it('tries again with a back-off that doubles up to its cap', async () => {
    const rig = new Rig({ startTimeoutMs: 60_000 });
    rig.broker.faults.refuseOpen('connection', 6);
    expect(await rig.started(4_000)).toBe('started');
    expect(rig.pauses).toEqual([100, 200, 400, 800, 1_000, 1_000]);
    expect(rig.told).toEqual(['opened']);
  });

  it('gives up at its deadline while the broker cannot be reached', async () => {
    const rig = new Rig();
    rig.broker.faults.refuseOpen('connection');
    expect(await rig.started(5_000)).toMatchObject({ code: 'MSG_CONNECT_UNREACHABLE' });
  });

  it('tells refused credentials at once', async () => {
    const rig = new Rig();
    rig.broker.faults.refuseOpen('auth');
    expect(await rig.started()).toMatchObject({ code: 'MSG_CONNECT_AUTH' });
    expect(rig.pauses).toEqual([]);
  });

  it('goes on trying with back-off when credentials are refused later', async () => {
    const rig = new Rig();
    expect(await rig.started()).toBe('started');
    rig.broker.faults.refuseOpen('auth', 3);
    rig.broker.loseSession();
    await rig.clock.advance(3_000);
    expect(rig.told).toEqual(['opened', 'lost', 'opened']);
    expect(rig.pauses).toHaveLength(3);
  });

  it.each([
    [
      [{ resource: 'orders', expected: 'exists', actual: 'missing' }],
      'MSG_CONNECT_TOPOLOGY_MISSING',
    ],
    [[{ resource: 'orders', expected: 'quorum', actual: 'classic' }], 'MSG_CONNECT_TOPOLOGY_DRIFT'],
  ])('refuses to start over %j', async (drift, code) => {
    const rig = new Rig(
      { mode: 'verify' },
      drifting(() => drift),
    );
    expect(await rig.started()).toMatchObject({ code });
  });

  it('tells what the broker does not report, and starts', async () => {
    const drift = [{ resource: 'orders', expected: 'quorum', actual: undefined }];
    const rig = new Rig(
      {},
      drifting(() => drift),
    );
    expect(await rig.started()).toBe('started');
    expect(rig.events).toContainEqual({ event: 'topology.drift', broker: 'memory', drift });
  });

  it('verifies without declaring, and assumes without asking', async () => {
    const verify = new Rig({ mode: 'verify' });
    expect(await verify.started()).toMatchObject({ code: 'MSG_CONNECT_TOPOLOGY_MISSING' });
    const assume = new Rig({ mode: 'assume' });
    expect(await assume.started()).toBe('started');
    expect(() => assume.broker.inject('orders', {})).toThrow('Nothing is called');
  });

  it('gives a session up that could not be put to use, and tries again', async () => {
    let failures = 2;
    const rig = new Rig({
      opened: () => {
        failures -= 1;
        return failures < 0 ? Promise.resolve() : Promise.reject(new Error('no such queue'));
      },
    });
    expect(await rig.started(500)).toBe('started');
    expect(rig.told).toEqual(['lost', 'lost']);
    expect(rig.broker.sessions()).toHaveLength(1);
  });

  it('backs off longer while sessions die young, and anew after one that lived', async () => {
    const rig = new Rig();
    await rig.started();
    for (let n = 0; n < 3; n += 1) {
      rig.broker.loseSession();
      await rig.clock.runUntil(() => rig.openedAtMs.length === n + 2);
    }
    const gaps = rig.openedAtMs.slice(1).map((ms, i) => ms - (rig.openedAtMs[i] ?? 0));
    expect(gaps).toEqual([100, 200, 400]);
    await rig.clock.advance(STABLE_MS);
    const lostAtMs = rig.clock.now();
    rig.broker.loseSession();
    await rig.clock.runUntil(() => rig.openedAtMs.length === 5);
    expect(rig.clock.now() - lostAtMs).toBe(100);
  });

  it('closes its session, and opens none afterwards', async () => {
    const rig = new Rig();
    await rig.started();
    await rig.connection.close();
    expect(rig.broker.sessions()).toEqual([]);
    await rig.clock.advance(60_000);
    expect(rig.told).toEqual(['opened']);
    expect(rig.clock.pending()).toBe(0);
  });

  it('leaves a session behind that does not close in time', async () => {
    const broker = new MemoryBroker({ clock: new ManualClock() });
    const driver = memoryQueue({ broker });
    const silent: Driver = {
      ...driver,
      open: async (io) => {
        const session = (await driver.open(io)) as QueueSession;
        session.close = () => new Promise(() => undefined);
        return session;
      },
    };
    const rig = new Rig({}, silent);
    expect(await rig.started()).toBe('started');
    let closed = false;
    const closing = rig.connection.close(0).then(() => {
      closed = true;
    });
    await rig.clock.advance(1_000);
    expect(closed).toBe(true);
    await closing;
  });

  it('ends a start that is under way when it is closed', async () => {
    const rig = new Rig({ startTimeoutMs: 60_000 });
    rig.broker.faults.refuseOpen('connection');
    const outcome = rig.connection.start().catch((error: unknown) => error);
    await rig.clock.advance(1_000);
    await rig.connection.close();
    expect(await outcome).toMatchObject({ code: 'MSG_CONNECT_CLOSED' });
    expect(rig.clock.pending()).toBe(0);
  });
});
