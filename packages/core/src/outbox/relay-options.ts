import type { BackoffOptions } from '../lifecycle/backoff.ts';
import type { EventOutlet } from '../observe/events.ts';
import type { Interceptor } from '../observe/steps.ts';
import type { Sender } from '../publish/sender.ts';
import type { OutboxStore } from '../store/outbox-store.ts';
import type { Clock } from '../time/clock.ts';

export interface RelayOptions<Tx> {
  readonly owner: string;
  readonly broker: string;
  readonly store: OutboxStore<Tx>;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly random: () => number;
  readonly events: EventOutlet;
  readonly intercept: Interceptor | undefined;
  readonly backoff: BackoffOptions;
  readonly leaseTtlMs: number;
  /** Rows taken from the outbox and not deleted yet. */
  readonly maxHeld: number;
  readonly publishTimeoutMs: number;
  readonly ready: (destination: string) => Promise<void> | undefined;
}
