import { ManualClock } from '@ackord/core/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryBroker } from '../../src/broker/memory-broker.ts';
import { type MemoryQueueOptions, memoryQueue } from '../../src/queue/memory-queue.ts';
import { bytes, open, outgoing, send, text, topology } from '../broker-fixture.ts';
import { type Inlet, inlet } from './queue-fixture.ts';

let clock: ManualClock;
let broker: MemoryBroker;

beforeEach(() => {
  clock = new ManualClock();
  broker = new MemoryBroker({ clock });
});

async function setup(options: MemoryQueueOptions = {}) {
  const driver = memoryQueue({ broker, ...options });
  const session = await open('queue', driver, clock);
  const reader = (address: string, window?: number): Promise<Inlet> =>
    inlet(session, driver, address, window);
  return { driver, session, reader };
}

describe('sessions', () => {
  it('that are lost say so, give their deliveries back and know nothing of them any more', async () => {
    const first = await setup();
    const second = await setup();
    const before = await first.reader('reserve');
    await send(first.session, [outgoing('orders', 'a')]);
    await clock.advance(0);
    broker.loseSession(first.session.id);
    expect(await first.session.lost).toMatchObject({ kind: 'connection' });
    const after = await second.reader('reserve');
    await clock.advance(0);
    expect(after.got[0]).toMatchObject({ redelivered: true, nativeCount: 2 });
    expect(await before.settle(0, { do: 'ack' })).toBe('stale');
    expect(before.faults).toEqual([]);
    expect(broker.depth('reserve')).toBe(1);
    await expect(first.reader('reserve')).rejects.toMatchObject({ kind: 'connection' });
  });

  it('give back what is unsettled when they close; lost stays pending', async () => {
    const first = await setup();
    const reserve = await first.reader('reserve');
    await send(first.session, [outgoing('orders', 'a')]);
    await clock.advance(0);
    await first.session.close();
    await first.session.close();
    let lost = false;
    void first.session.lost.then(() => {
      lost = true;
    });
    const second = await setup();
    const again = await second.reader('reserve');
    await clock.advance(0);
    expect([again.bodies(), lost, broker.sessions()]).toEqual([['a'], false, [second.session.id]]);
    expect(await reserve.settle(0, { do: 'ack' })).toBe('stale');
    expect(await send(first.session, [outgoing('orders', 'b')])).toMatchObject([
      { is: 'unknown', why: 'session' },
    ]);
  });

  it('of a killed process end in silence, and no new one opens', async () => {
    const { driver, session, reader } = await setup();
    const reserve = await reader('reserve');
    await send(session, [outgoing('orders', 'a')]);
    await clock.advance(0);
    driver.kill();
    let heard = false;
    const hear = (): void => {
      heard = true;
    };
    void session.lost.then(hear);
    const stop = new AbortController();
    const plan = driver.plan(topology);
    const opening = driver.open({ plan, clock, signal: stop.signal, notice: hear });
    opening.then(hear, () => undefined);
    const other = await setup();
    const again = await other.reader('reserve');
    await clock.advance(0);
    expect([again.bodies(), reserve.faults, heard]).toEqual([['a'], [], false]);
    stop.abort();
    await expect(opening).rejects.toThrow('abort');
  });

  it('are refused as often as asked, by kind', async () => {
    const driver = memoryQueue({ broker });
    broker.faults.refuseOpen('auth', 1);
    const error: unknown = await open('queue', driver, clock).catch((e: unknown) => e);
    expect(driver.classify(error)).toBe('auth');
    expect(driver.classify(new Error('other'))).toBe('unknown');
    await open('queue', driver, clock);
  });
});

describe('sending', () => {
  it('answers after send returned, once each', async () => {
    const { session } = await setup();
    const seen: string[] = [];
    const { signal } = new AbortController();
    session.send([outgoing('orders', 'a'), outgoing('orders', 'b')], { signal }, (index) => {
      seen.push(`done ${index}`);
    });
    seen.push('returned');
    await clock.advance(0);
    expect(seen).toEqual(['returned', 'done 0', 'done 1']);
  });

  it('sends nothing past its signal', async () => {
    const { session } = await setup();
    const signal = AbortSignal.abort();
    expect(await send(session, [outgoing('orders', 'a')], { signal })).toMatchObject([
      { is: 'unknown', why: 'aborted' },
    ]);
    expect(broker.depth('reserve')).toBe(0);
  });

  it('leaves a lost confirm unknown, the message stored', async () => {
    const { session } = await setup();
    broker.faults.loseConfirms(1, { on: 'orders' });
    const outcomes = await send(session, [outgoing('orders', 'a'), outgoing('orders', 'b')]);
    expect(outcomes).toMatchObject([{ is: 'unknown', why: 'session' }, { is: 'confirmed' }]);
    expect(broker.depth('reserve')).toBe(2);
  });

  it('holds confirms back until let go, aborted, or lost', async () => {
    const { session } = await setup();
    const letGo = broker.faults.holdConfirms();
    const stop = new AbortController();
    const aborted = send(session, [outgoing('orders', 'a')], { signal: stop.signal });
    const held = send(session, [outgoing('orders', 'b')]);
    expect(broker.depth('reserve')).toBe(2);
    stop.abort();
    expect(await aborted).toMatchObject([{ is: 'unknown', why: 'aborted' }]);
    letGo();
    expect(await held).toMatchObject([{ is: 'confirmed' }]);
    broker.faults.holdConfirms();
    expect(await send(session, [outgoing('orders', 'x')], { signal: stop.signal })).toMatchObject([
      { is: 'unknown', why: 'aborted' },
    ]);
    const lost = send(session, [outgoing('orders', 'c')]);
    broker.loseSession();
    expect(await lost).toMatchObject([{ is: 'unknown', why: 'session' }]);
    expect(await send(session, [outgoing('orders', 'd')])).toMatchObject([
      { is: 'unknown', why: 'session' },
    ]);
    expect([broker.depth('reserve'), broker.sent('orders')]).toEqual([3, 3]);
  });

  it('refuses by kind, alone or with its neighbours', async () => {
    const { session } = await setup();
    const batch = [outgoing('orders', 'a'), outgoing('orders', 'bad')];
    const on = (m: { body: Uint8Array }): boolean => text(m.body) === 'bad';
    broker.faults.rejectSends(1, 'refused', { on });
    expect(await send(session, batch)).toMatchObject([
      { is: 'confirmed' },
      { is: 'rejected', kind: 'refused' },
    ]);
    broker.faults.rejectSends(Number.POSITIVE_INFINITY, 'invalid', { on, together: 'no' });
    expect(await send(session, batch)).toMatchObject([
      { is: 'together', kind: 'invalid', stored: 'no' },
      { is: 'together', kind: 'invalid', stored: 'no' },
    ]);
    expect(broker.depth('reserve')).toBe(1);
    expect(await send(session, batch.slice(1))).toMatchObject([
      { is: 'rejected', kind: 'invalid' },
    ]);
    broker.faults.clear();
    broker.faults.rejectSends(1, 'too-large', { on, together: 'unknown' });
    expect(await send(session, batch)).toMatchObject([
      { stored: 'unknown' },
      { stored: 'unknown' },
    ]);
    expect(broker.depth('reserve')).toBe(2);
  });

  it('refuses what is over a limit', async () => {
    const { session } = await setup({ limits: { bodyBytes: 8, idChars: 5 } });
    expect(
      await send(session, [
        outgoing('orders', '12345678', { dedupId: 'd1' }),
        outgoing('orders', '123456789', { dedupId: 'd2' }),
        outgoing('orders', '1', { dedupId: '123456' }),
        outgoing('orders', '1234567', { dedupId: 'd3', headers: { h: '1' } }),
      ]),
    ).toMatchObject([
      { is: 'confirmed' },
      { is: 'rejected', kind: 'too-large' },
      { is: 'rejected', kind: 'invalid' },
      { is: 'rejected', kind: 'too-large' },
    ]);
  });

  it('drops a repeated dedup id within the window and says so', async () => {
    const { session } = await setup({ limits: { dedupWindowMs: 1_000 } });
    const twice = [outgoing('orders', 'a'), outgoing('orders', 'a')];
    expect(await send(session, twice)).toEqual([
      { is: 'confirmed' },
      { is: 'confirmed', duplicate: true },
    ]);
    await clock.advance(1_000);
    expect(await send(session, twice.slice(1))).toEqual([{ is: 'confirmed' }]);
    expect(broker.depth('reserve')).toBe(2);
  });
});

describe('the broker', () => {
  it('takes an address away and gives it back with what it held', async () => {
    const { session, reader } = await setup();
    const reserve = await reader('reserve', 1);
    await send(session, [outgoing('orders', 'a')]);
    await clock.advance(0);
    broker.faults.remove('reserve');
    expect(reserve.faults).toMatchObject([{ fault: { kind: 'cancelled' }, ended: true }]);
    expect(await reserve.settle(0, { do: 'ack' })).toBe('stale');
    await expect(reader('reserve')).rejects.toMatchObject({ kind: 'missing' });
    const plan = memoryQueue().plan(topology);
    expect(await session.apply(plan.resources, 'create')).toMatchObject([{ resource: 'reserve' }]);
    broker.faults.restore('reserve');
    const again = await reader('reserve');
    await clock.advance(0);
    expect(again.bodies()).toEqual(['a']);
  });

  it('makes parking and buckets unroutable', async () => {
    const { session } = await setup();
    for (const address of ['reserve.parking', 'reserve.retry.5s']) {
      broker.faults.remove(address);
      expect(await send(session, [outgoing(address, 'a')])).toMatchObject([
        { is: 'rejected', kind: 'unroutable' },
      ]);
    }
  });

  it('loses settles', async () => {
    const { session, reader } = await setup();
    const reserve = await reader('reserve');
    await send(session, [outgoing('orders', 'a'), outgoing('orders', 'b')]);
    await clock.advance(0);
    broker.faults.loseSettles(1, 'ok');
    expect(await reserve.settle(0, { do: 'ack' })).toBe('ok');
    expect(await reserve.settle(1, { do: 'ack' })).toBe('ok');
    expect(broker.dump('reserve').map((m) => text(m.body))).toEqual(['a']);
  });

  it('delivers twice', async () => {
    const { session, reader } = await setup();
    const reserve = await reader('reserve');
    broker.faults.duplicateDeliveries(1);
    await send(session, [outgoing('orders', 'a'), outgoing('orders', 'b')]);
    await clock.advance(0);
    expect(reserve.bodies().toSorted()).toEqual(['a', 'a', 'b']);
    for (const i of [0, 1, 2]) expect(await reserve.settle(i, { do: 'ack' })).toBe('ok');
    expect(broker.depth('reserve')).toBe(0);
  });

  it('takes and shows raw messages without consuming them', async () => {
    const { reader } = await setup();
    broker.inject('reserve.parking', { body: bytes('{'), headers: { x: '1' }, nativeId: 'n' });
    expect(broker.dump('reserve.parking')).toEqual([
      { body: bytes('{'), headers: { x: '1' }, nativeId: 'n' },
    ]);
    const parking = await reader('reserve.parking');
    await clock.advance(0);
    expect(parking.got[0]?.native).toEqual({ id: 'n', subject: 'reserve.parking' });
    expect(broker.depth('reserve.parking')).toBe(1);
    expect(() => broker.inject('nowhere', {})).toThrow('nowhere');
  });
});
