import type { OutboxStore, SlotLease } from '../store/outbox-store.ts';
import type { Clock } from '../time/clock.ts';
import { withDeadline } from '../time/deadline.ts';

export interface SlotHolderOptions<Tx> {
  readonly owner: string;
  readonly store: OutboxStore<Tx>;
  readonly clock: Clock;
  readonly leaseTtlMs: number;
}

/** The relay's slot leases, with a local and conservative view of their expiry. */
export class SlotHolder<Tx> {
  readonly #options: SlotHolderOptions<Tx>;
  #epochs = new Map<number, number>();
  #renewedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: SlotHolderOptions<Tx>) {
    this.#options = options;
  }

  /**
   * Asks the store once per third of the lease time; at once when the clock was put back, since the
   * store's clock was not.
   */
  async renew(busy: readonly number[], stop: AbortSignal): Promise<void> {
    const { clock, store, owner, leaseTtlMs } = this.#options;
    const askedAtMs = clock.now();
    const ageMs = askedAtMs - this.#renewedAtMs;
    if (ageMs >= 0 && ageMs < leaseTtlMs / 3) return;
    const leases = await withDeadline(clock, leaseTtlMs, 'renewing slots', (late) =>
      store.lease({ owner, ttlMs: leaseTtlMs, busy, signal: AbortSignal.any([late, stop]) }),
    );
    this.#renewedAtMs = askedAtMs;
    this.#epochs = new Map(leases.map(({ slot, epoch }) => [slot, epoch]));
  }

  leases(): readonly SlotLease[] {
    if (this.#expired()) return [];
    return [...this.#epochs].map(([slot, epoch]) => ({ slot, epoch }));
  }

  /** Undefined when the slot is not owned, or its lease may have expired. */
  epochOf(slot: number): number | undefined {
    return this.#expired() ? undefined : this.#epochs.get(slot);
  }

  /** Time until the leases may have expired, never negative. */
  leftMs(): number {
    if (this.#expired()) return 0;
    return this.#renewedAtMs + this.#options.leaseTtlMs - this.#options.clock.now();
  }

  /** Gives the slots back, so that another relay need not wait for their expiry. */
  async release(): Promise<void> {
    this.#epochs.clear();
    // A database that is gone expires them by itself.
    await this.#options.store.release(this.#options.owner).catch(() => undefined);
  }

  #expired(): boolean {
    const { clock, leaseTtlMs } = this.#options;
    const ageMs = clock.now() - this.#renewedAtMs;
    return ageMs < 0 || ageMs >= leaseTtlMs;
  }
}
