import { describe, expect, it } from 'vitest';
import { Slots, type SlotUser } from '../../src/consume/slots.ts';

/** Has so much work; each piece runs until `end`. */
class User implements SlotUser {
  running = 0;
  readonly isRetry: boolean;
  work: number;
  readonly #slots: Slots;

  constructor(slots: Slots, work: number, isRetry = false) {
    this.#slots = slots;
    this.work = work;
    this.isRetry = isRetry;
    slots.add(this);
  }

  startNext(): boolean {
    if (this.work === 0) return false;
    this.work -= 1;
    this.running += 1;
    return true;
  }

  end(): void {
    this.running -= 1;
    this.#slots.free();
  }
}

describe('slots', () => {
  it('run no more at once than the limit', () => {
    const slots = new Slots(3);
    const live = new User(slots, 10);
    slots.fill();
    expect([live.running, slots.running]).toEqual([3, 3]);
    live.end();
    expect([live.running, live.work]).toEqual([3, 6]);
  });

  it('keep a quarter for retries while live traffic would take all', () => {
    const slots = new Slots(8);
    const live = new User(slots, 100);
    const retry = new User(slots, 100, true);
    slots.fill();
    expect([live.running, retry.running]).toEqual([6, 2]);
    for (let n = 0; n < 20; n += 1) live.end();
    expect([live.running, retry.running]).toEqual([6, 2]);
  });

  it('give everything to whoever has work', () => {
    const slots = new Slots(8);
    const live = new User(slots, 0);
    const retry = new User(slots, 100, true);
    slots.fill();
    expect(retry.running).toBe(8);
    live.work = 100;
    for (let n = 0; n < 8; n += 1) retry.end();
    expect(retry.running).toBe(2);
    expect(live.running).toBe(6);
  });

  it('give a removed user nothing, and count what it still runs', () => {
    const slots = new Slots(2);
    const gone = new User(slots, 10);
    slots.fill();
    slots.remove(gone);
    const other = new User(slots, 10);
    slots.fill();
    expect(other.running).toBe(0);
    gone.end();
    expect([gone.running, other.running]).toEqual([1, 1]);
  });

  it('have a share for retries even when there is one slot', () => {
    const slots = new Slots(1);
    const live = new User(slots, 5);
    slots.fill();
    const retry = new User(slots, 5, true);
    live.end();
    expect([live.running, retry.running]).toEqual([0, 1]);
  });
});
