import type { Settle, Settled } from '../driver/driver.ts';
import type { Clock } from '../time/clock.ts';

export interface Lease {
  readonly ms: number;
  readonly extendable: boolean;
  readonly maxMs: number;
}

export interface Leased {
  readonly receivedAtMs: number;
  /** Local and conservative; after it nothing but an ack may be said. */
  leaseUntilMs: number;
  renewedAtMs: number;
  /** Set while an extension is under way: its answer is awaited before anything else is said. */
  extending: Promise<void> | undefined;
  settle(how: Settle): Promise<Settled>;
}

/**
 * Extends leases at a third of their time, from receive on, buffered deliveries included. After a
 * blocked event loop a delivery's lease is counted from the second-last tick, since it was read late.
 */
export class LeaseKeeper {
  readonly #clock: Clock;
  readonly #lease: Lease;
  readonly #held = new Set<Leased>();
  #cancel: (() => void) | undefined;
  #ticks: [number, number];

  constructor(clock: Clock, lease: Lease) {
    this.#clock = clock;
    this.#lease = lease;
    this.#ticks = [clock.now(), clock.now()];
    this.#arm();
  }

  leaseUntil(stampMs: number | undefined): number {
    return Math.min(stampMs ?? Number.POSITIVE_INFINITY, this.#ticks[0] + this.#lease.ms);
  }

  hold(leased: Leased): void {
    // Of no use otherwise: only extensions look at what is held.
    if (this.#lease.extendable) this.#held.add(leased);
  }

  drop(leased: Leased): void {
    this.#held.delete(leased);
  }

  close(): void {
    this.#cancel?.();
    this.#held.clear();
  }

  #arm(): void {
    this.#cancel = this.#clock.after(Math.max(10, this.#lease.ms / 12), () => {
      this.#tick();
      this.#arm();
    });
  }

  #tick(): void {
    const nowMs = this.#clock.now();
    this.#ticks = [this.#ticks[1], nowMs];
    if (!this.#lease.extendable) return;
    for (const leased of this.#held) {
      const due = nowMs - leased.renewedAtMs >= this.#lease.ms / 3;
      const allowed = nowMs + this.#lease.ms <= leased.receivedAtMs + this.#lease.maxMs;
      if (!due || !allowed || leased.extending !== undefined) continue;
      if (nowMs >= leased.leaseUntilMs) continue;
      leased.extending = this.#extend(leased, nowMs);
    }
  }

  async #extend(leased: Leased, nowMs: number): Promise<void> {
    const result = await leased.settle({ do: 'extend', ms: this.#lease.ms });
    leased.extending = undefined;
    if (result === 'ok') {
      leased.renewedAtMs = nowMs;
      leased.leaseUntilMs = nowMs + this.#lease.ms;
    } else if (result === 'stale') leased.leaseUntilMs = 0;
  }
}
