import type { Clock } from '@ackord/core/driver';
import { type LeaseRequest, OUTBOX_SLOTS, type SlotLease } from '@ackord/core/store';

interface Slot {
  owner: string | undefined;
  epoch: number;
  expiresAtMs: number;
}

/** Who may publish which hash slot; expiry by the database's clock. */
export class SlotLeases {
  readonly #clock: Clock;
  readonly #slots: readonly Slot[] = Array.from({ length: OUTBOX_SLOTS }, () => ({
    owner: undefined,
    epoch: 0,
    expiresAtMs: 0,
  }));
  /** Relays that asked, to the end of their lease; also those that own nothing yet. */
  readonly #relays = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  lease({ owner, ttlMs, busy }: LeaseRequest): readonly SlotLease[] {
    const now = this.#clock.now();
    const expiresAtMs = now + ttlMs;
    this.#relays.set(owner, expiresAtMs);
    const live = [...this.#relays.values()].filter((endMs) => endMs > now).length;
    const share = Math.ceil(OUTBOX_SLOTS / Math.max(live, 1));
    const mine = [...this.#slots.keys()].filter((slot) => this.#at(slot).owner === owner);
    mine.sort((a, b) => Number(busy.includes(b)) - Number(busy.includes(a)) || a - b);
    for (const [rank, slot] of mine.entries()) {
      if (rank < share || busy.includes(slot)) this.#at(slot).expiresAtMs = expiresAtMs;
      else this.#free(slot);
    }
    this.#take(owner, expiresAtMs, share - mine.length);
    return this.#ownedBy(owner);
  }

  release(owner: string): void {
    this.#relays.delete(owner);
    for (const [slot, of] of this.#slots.entries()) if (of.owner === owner) this.#free(slot);
  }

  /** The epoch is still the slot's. */
  fences({ slot, epoch }: SlotLease): boolean {
    return this.#slots[slot]?.epoch === epoch;
  }

  /** The epoch is the slot's, and the lease has not expired. */
  holds(lease: SlotLease): boolean {
    return this.fences(lease) && this.#at(lease.slot).expiresAtMs > this.#clock.now();
  }

  #take(owner: string, expiresAtMs: number, count: number): void {
    const now = this.#clock.now();
    let left = count;
    for (const of of this.#slots) {
      if (left <= 0) return;
      if (of.owner === owner || (of.owner !== undefined && of.expiresAtMs > now)) continue;
      Object.assign(of, { owner, expiresAtMs, epoch: of.epoch + 1 });
      left--;
    }
  }

  #free(slot: number): void {
    Object.assign(this.#at(slot), { owner: undefined, expiresAtMs: 0 });
  }

  #ownedBy(owner: string): readonly SlotLease[] {
    return this.#slots.flatMap((of, slot) =>
      of.owner === owner ? [{ slot, epoch: of.epoch }] : [],
    );
  }

  #at(slot: number): Slot {
    const of = this.#slots[slot];
    if (!of) throw new RangeError(`There is no slot ${slot}`);
    return of;
  }
}
