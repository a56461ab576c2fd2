import { describe, expect, it } from 'vitest';
import type { Incoming, PipelineResult, Verdict } from '../../src/consume/incoming.ts';
import { QueueIntake } from '../../src/consume/queue-intake.ts';
import type { Settler, Unsettled } from '../../src/consume/settler.ts';
import { Slots } from '../../src/consume/slots.ts';
import type {
  Delivery,
  Fault,
  QueueReceiver,
  QueueSession,
  QueueSink,
  Settle,
  Settled,
} from '../../src/driver/driver.ts';
import { ManualClock } from '../../src/time/manual-clock.ts';

const ACK: PipelineResult = { verdict: { step: 'ack' } };

interface RigOptions {
  readonly concurrency?: number;
  readonly window?: number;
  readonly lease?: QueueReceiver['lease'];
}

/** An intake with a broker, handlers and a settler that the test controls. */
class Rig {
  readonly clock = new ManualClock();
  readonly slots: Slots;
  readonly intake: QueueIntake;
  readonly windows: number[] = [];
  readonly settled: string[] = [];
  readonly started: string[] = [];
  readonly faults: Fault[] = [];
  readonly calls: string[] = [];
  answer: Settled = 'ok';
  sink!: QueueSink;
  readonly #open = new Map<string, (result: PipelineResult) => void>();

  constructor({ concurrency = 2, window = 6, lease }: RigOptions = {}) {
    this.slots = new Slots(concurrency);
    const receiver: QueueReceiver = {
      ...(lease !== undefined && { lease }),
      setWindow: (n) => this.windows.push(n),
      settle: (batch) => {
        this.settled.push(...batch.map(({ token, how }) => `${how.do} ${String(token)}`));
        return Promise.resolve(batch.map(() => this.answer));
      },
      stop: async () => void this.calls.push('stop'),
      close: async () => void this.calls.push('close'),
    };
    const session = {
      capabilities: { batch: { items: 100 } },
      receive: async (_: unknown, attach: (receiver: QueueReceiver) => QueueSink) => {
        this.sink = attach(receiver);
      },
    } as unknown as QueueSession;
    this.intake = new QueueIntake({
      source: { address: 'reserve', consumer: 'reserve', feed: 'live' },
      session,
      slots: this.slots,
      window,
      settler: { settle: settleBy } as unknown as Settler,
      clock: this.clock,
      run: (incoming) => this.#run(incoming),
      stop: new AbortController().signal,
      fault: (fault) => this.faults.push(fault),
    });
  }

  async deliver(...names: readonly (string | Partial<Delivery>)[]): Promise<void> {
    const deliveries = names.map((each): Delivery => {
      const more = typeof each === 'string' ? { token: each } : each;
      const token = String(more.token);
      return {
        token,
        body: new Uint8Array(),
        headers: {},
        native: { id: token },
        receivedAtMs: this.clock.now(),
        redelivered: false,
        ...more,
      };
    });
    this.sink.delivered(deliveries);
    await this.clock.advance(0);
  }

  async end(name: string, result: PipelineResult = ACK): Promise<void> {
    this.#open.get(name)?.(result);
    await this.clock.advance(0);
  }

  #run({ native }: Incoming): Promise<PipelineResult> {
    const name = native.id ?? '';
    this.started.push(name);
    return new Promise((resolve) => this.#open.set(name, resolve));
  }
}

/** Acks or releases at once. */
async function settleBy(unsettled: Unsettled, { step }: Verdict): Promise<void> {
  const how: Settle = step === 'ack' ? { do: 'ack' } : { do: 'release' };
  await unsettled.settle(how);
}

async function opened(options: RigOptions = {}): Promise<Rig> {
  const rig = new Rig(options);
  await rig.intake.open();
  return rig;
}

describe('a queue intake', () => {
  it('asks for its window, runs as many as there are slots, acks what has ended', async () => {
    const rig = await opened();
    expect(rig.windows).toEqual([6]);
    await rig.deliver('a', 'b', 'c');
    expect(rig.started).toEqual(['a', 'b']);
    await rig.end('a');
    expect(rig.started).toEqual(['a', 'b', 'c']);
    expect(rig.settled).toEqual(['ack a']);
    expect(rig.intake.unsettled).toBe(2);
  });

  it('runs one delivery of a lane at a time', async () => {
    const rig = await opened();
    await rig.deliver({ token: 'a1', lane: 'a' }, { token: 'a2', lane: 'a' }, 'b');
    expect(rig.started).toEqual(['a1', 'b']);
    await rig.end('a1');
    expect(rig.started).toEqual(['a1', 'b', 'a2']);
  });

  it('releases at its stop what was not started, and lets the rest end', async () => {
    const rig = await opened();
    await rig.deliver('a', 'b', 'c', 'd');
    const stopped = rig.intake.stop();
    await rig.clock.advance(0);
    await stopped;
    expect(rig.settled).toEqual(['release c', 'release d']);
    let isIdle = false;
    const idle = rig.intake.idle().then(() => {
      isIdle = true;
    });
    await rig.end('a');
    expect(isIdle).toBe(false);
    await rig.end('b');
    await idle;
    expect(rig.settled).toEqual(['release c', 'release d', 'ack a', 'ack b']);
    expect(rig.calls).toEqual(['stop']);
  });

  it('releases what arrives after the stop, and what is marked as late', async () => {
    const rig = await opened();
    await rig.deliver({ token: 'late', late: true });
    await rig.intake.stop();
    await rig.deliver('after');
    expect(rig.started).toEqual([]);
    expect(rig.settled).toEqual(['release late', 'release after']);
    await rig.intake.idle();
  });

  it('gives back what still runs when it is closed, and settles it once only', async () => {
    const rig = await opened();
    await rig.deliver('a');
    const closing = rig.intake.close();
    await rig.clock.advance(0);
    await closing;
    expect(rig.settled).toEqual(['release a']);
    expect(rig.calls).toEqual(['close']);
    await rig.end('a');
    expect(rig.settled).toEqual(['release a']);
  });

  it('says nothing about deliveries of a lost session, and starts none of them', async () => {
    const rig = await opened();
    await rig.deliver('a', 'b', 'c');
    rig.intake.lost();
    await rig.end('a');
    await rig.end('b');
    expect(rig.started).toEqual(['a', 'b']);
    expect(rig.settled).toEqual([]);
    expect(rig.slots.running).toBe(0);
    await rig.intake.idle();
  });

  it('ends with its receiver, and tells', async () => {
    const rig = await opened();
    await rig.deliver('a', 'b', 'c');
    rig.sink.fault({ kind: 'cancelled' }, true);
    expect(rig.faults).toEqual([{ kind: 'cancelled' }]);
    await rig.end('a');
    expect(rig.started).toEqual(['a', 'b']);
    expect(rig.settled).toEqual([]);
  });

  it('keeps the slot of a handler that ignored its signal until it returns', async () => {
    const rig = await opened({ concurrency: 1 });
    await rig.deliver('a', 'b');
    const lingering = Promise.withResolvers<void>();
    await rig.end('a', { ...ACK, lingering: lingering.promise });
    expect(rig.settled).toEqual(['ack a']);
    expect(rig.started).toEqual(['a']);
    lingering.resolve();
    await rig.clock.advance(0);
    expect(rig.started).toEqual(['a', 'b']);
  });

  it('holds a message that is a few milliseconds early in hand, without a slot', async () => {
    const rig = await opened({ concurrency: 1 });
    await rig.deliver('a', 'b');
    await rig.end('a', defer(rig.clock.now() + 50));
    expect(rig.started).toEqual(['a', 'b']);
    expect(rig.settled).toEqual([]);
    await rig.end('b');
    await rig.clock.advance(49);
    expect(rig.started).toEqual(['a', 'b']);
    await rig.clock.advance(1);
    expect(rig.started).toEqual(['a', 'b', 'a']);
    await rig.end('a');
    expect(rig.settled).toEqual(['ack b', 'ack a']);
  });

  it('hands an earlier one to the settler', async () => {
    const rig = await opened();
    await rig.deliver('a');
    await rig.end('a', defer(rig.clock.now() + 51));
    expect(rig.settled).toEqual(['release a']);
  });

  it('releases what it holds in hand when it stops', async () => {
    const rig = await opened();
    await rig.deliver('a');
    await rig.end('a', defer(rig.clock.now() + 50));
    await rig.intake.stop();
    await rig.clock.advance(50);
    expect(rig.settled).toEqual(['release a']);
    await rig.intake.idle();
  });

  it('forgets what it holds in hand with its session', async () => {
    const rig = await opened();
    await rig.deliver('a');
    await rig.end('a', defer(rig.clock.now() + 50));
    rig.intake.lost();
    await rig.clock.advance(50);
    expect([rig.intake.unsettled, rig.started]).toEqual([0, ['a']]);
  });

  it('drops a buffered delivery whose lease is over', async () => {
    const lease = { ms: 1_000, extendable: false, maxMs: 10_000 };
    const rig = await opened({ concurrency: 1, lease });
    await rig.deliver('a', 'b');
    await rig.clock.advance(1_000);
    await rig.end('a');
    expect(rig.started).toEqual(['a']);
    expect(rig.settled.toSorted()).toEqual(['ack a', 'drop b']);
  });

  it('closes its receiver and asks for another when a lease that nothing extends was outlived', async () => {
    const lease = { ms: 1_000, extendable: false, maxMs: 10_000 };
    const rig = await opened({ concurrency: 1, lease });
    await rig.deliver('a', 'b', 'c');
    await rig.clock.advance(1_000);
    await rig.end('a');
    expect(rig.calls).toEqual(['close']);
    expect(rig.faults).toMatchObject([{ kind: 'cancelled' }]);
    expect(rig.intake.unsettled).toBe(0);
  });

  it('says nothing but an ack after the lease', async () => {
    const lease = { ms: 1_000, extendable: false, maxMs: 10_000 };
    const rig = await opened({ lease });
    await rig.deliver('a');
    await rig.clock.advance(1_000);
    await rig.end('a', { verdict: { step: 'keep', error: new Error('store down') } });
    expect(rig.settled).toEqual(['drop a']);
  });

  it('extends leases, of buffered deliveries as well', async () => {
    const lease = { ms: 1_200, extendable: true, maxMs: 100_000 };
    const rig = await opened({ concurrency: 1, lease });
    await rig.deliver('a', 'b');
    await rig.clock.advance(5_000);
    expect(rig.settled.filter((told) => told === 'extend b').length).toBeGreaterThan(8);
    await rig.end('a');
    expect(rig.started).toEqual(['a', 'b']);
    expect(rig.settled).toContain('ack a');
    rig.intake.lost();
  });
});

function defer(dueAtMs: number): PipelineResult {
  return { verdict: { step: 'defer', message: {} as never, dueAtMs } };
}
