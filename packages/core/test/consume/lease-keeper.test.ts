import { describe, expect, it } from 'vitest';
import { type Leased, LeaseKeeper } from '../../src/consume/lease-keeper.ts';
import type { Settle, Settled } from '../../src/driver/driver.ts';
import { ManualClock } from '../../src/time/manual-clock.ts';

class Held implements Leased {
  readonly receivedAtMs: number;
  renewedAtMs: number;
  leaseUntilMs: number;
  extending: Promise<void> | undefined;
  readonly extendedAtMs: number[] = [];
  answer: Promise<Settled> | Settled = 'ok';
  readonly #clock: ManualClock;

  constructor(clock: ManualClock, keeper: LeaseKeeper) {
    this.#clock = clock;
    this.receivedAtMs = clock.now();
    this.renewedAtMs = clock.now();
    this.leaseUntilMs = keeper.leaseUntil(undefined);
    keeper.hold(this);
  }

  async settle(how: Settle): Promise<Settled> {
    if (how.do === 'extend') this.extendedAtMs.push(this.#clock.now() - this.receivedAtMs);
    return await this.answer;
  }
}

const LEASE = { ms: 12_000, extendable: true, maxMs: 40_000 };

describe('a lease keeper', () => {
  it('extends each lease at a third of its time', async () => {
    const clock = new ManualClock();
    const keeper = new LeaseKeeper(clock, LEASE);
    const held = new Held(clock, keeper);
    await clock.advance(13_000);
    expect(held.extendedAtMs).toEqual([4_000, 8_000, 12_000]);
    expect(held.leaseUntilMs).toBe(held.receivedAtMs + 24_000);
    keeper.close();
  });

  it('stops at the longest time that the broker allows', async () => {
    const clock = new ManualClock();
    const keeper = new LeaseKeeper(clock, LEASE);
    const held = new Held(clock, keeper);
    await clock.advance(100_000);
    expect(Math.max(...held.extendedAtMs)).toBe(28_000);
    expect(held.leaseUntilMs).toBe(held.receivedAtMs + 40_000);
    keeper.close();
  });

  it('leaves alone what was dropped, and ends with close', async () => {
    const clock = new ManualClock();
    const keeper = new LeaseKeeper(clock, LEASE);
    const dropped = new Held(clock, keeper);
    const kept = new Held(clock, keeper);
    keeper.drop(dropped);
    await clock.advance(5_000);
    keeper.close();
    await clock.advance(60_000);
    expect([dropped.extendedAtMs, kept.extendedAtMs]).toEqual([[], [4_000]]);
    expect(clock.pending()).toBe(0);
  });

  it('counts a lease as over when the broker says so', async () => {
    const clock = new ManualClock();
    const keeper = new LeaseKeeper(clock, LEASE);
    const held = new Held(clock, keeper);
    held.answer = 'stale';
    await clock.advance(60_000);
    expect([held.leaseUntilMs, held.extendedAtMs]).toEqual([0, [4_000]]);
    keeper.close();
  });

  it('asks again after an answer that is unknown, one request at a time', async () => {
    const clock = new ManualClock();
    const keeper = new LeaseKeeper(clock, LEASE);
    const held = new Held(clock, keeper);
    const { promise, resolve } = Promise.withResolvers<Settled>();
    held.answer = promise;
    await clock.advance(7_000);
    expect(held.extendedAtMs).toEqual([4_000]);
    resolve('unknown');
    held.answer = 'ok';
    await clock.advance(1_000);
    expect(held.extendedAtMs).toEqual([4_000, 8_000]);
    keeper.close();
  });

  it('extends nothing where the broker cannot', async () => {
    const clock = new ManualClock();
    const keeper = new LeaseKeeper(clock, { ...LEASE, extendable: false });
    const held = new Held(clock, keeper);
    await clock.advance(20_000);
    expect(held.extendedAtMs).toEqual([]);
    expect(held.leaseUntilMs).toBe(held.receivedAtMs + 12_000);
    keeper.close();
  });

  it('counts from the second-last tick: after a blocked event loop a delivery was read late', async () => {
    const clock = new ManualClock();
    const keeper = new LeaseKeeper(clock, LEASE);
    await clock.advance(2_500);
    expect(keeper.leaseUntil(undefined)).toBe(clock.now() - 1_500 + 12_000);
    expect(keeper.leaseUntil(clock.now() + 3_000)).toBe(clock.now() + 3_000);
    keeper.close();
  });
});
