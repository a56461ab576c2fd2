import { MemoryDatabase, type MemoryStore, memoryStore } from '@ackord/memory';
import type { Capabilities } from '../../src/driver/capabilities.ts';
import type { BaseSession, Outcome, Outgoing } from '../../src/driver/driver.ts';
import { type BusEvent, EventOutlet } from '../../src/observe/events.ts';
import { Relay } from '../../src/outbox/relay.ts';
import type { RelayOptions } from '../../src/outbox/relay-options.ts';
import { Sender } from '../../src/publish/sender.ts';
import type { OutboxMessage } from '../../src/store/outbox-store.ts';
import type { Clock } from '../../src/time/clock.ts';
import { ManualClock } from '../../src/time/manual-clock.ts';

/** A send that waits for its outcome. */
export interface Open {
  readonly id: string;
  readonly out: Outgoing;
  readonly end: (outcome: Outcome) => void;
}

export const CONFIRMED: Outcome = { is: 'confirmed' };
export const LOST: Outcome = { is: 'unknown', why: 'session', error: new Error('lost') };
export const refusedAs = (kind: 'invalid' | 'unroutable' | 'refused'): Outcome => ({
  is: 'rejected',
  kind,
  error: new Error(kind),
});

const capabilities = {
  bodyBytes: 1_000,
  batch: { items: 100, bytes: 100_000, oneAddress: false },
  sizeOf: () => 1,
} as unknown as Capabilities;

/** A relay on the in-memory store, with a broker whose answers the test gives. */
export class RelayRig {
  readonly clock = new ManualClock();
  readonly database = new MemoryDatabase({ clock: this.clock });
  readonly store: MemoryStore = memoryStore({ database: this.database });
  readonly events: BusEvent[] = [];
  /** Ids in the order in which they were sent, repeats included. */
  readonly sent: string[] = [];
  readonly relay: Relay<unknown>;
  #open: Open[] = [];

  /** @param clockOf - What the relay takes for the time; the store keeps its own. */
  constructor(
    options: Partial<RelayOptions<unknown>> = {},
    clockOf: (clock: ManualClock) => Clock = (clock) => clock,
  ) {
    const clock = clockOf(this.clock);
    const outlet = new EventOutlet();
    outlet.on((event) => this.events.push(event));
    const sender = new Sender({ clock, maxInFlight: 100 });
    sender.attach({ capabilities, send: this.#send } as unknown as BaseSession);
    this.relay = new Relay<unknown>({
      owner: 'one',
      broker: 'memory',
      store: this.store.outbox as never,
      sender,
      clock,
      random: () => 0.5,
      events: outlet,
      intercept: undefined,
      backoff: { baseMs: 100, capMs: 1_000 },
      leaseTtlMs: 3_000,
      maxHeld: 100,
      publishTimeoutMs: 1_000,
      ready: () => undefined,
      ...options,
    });
  }

  /** Rows of one transaction, `id` or `id@key`. */
  async add(...names: readonly string[]): Promise<void> {
    const rows = names.map((name): OutboxMessage => {
      const [messageId = '', key] = name.split('@');
      return { ...ROW, messageId, dedupId: messageId, ...(key !== undefined && { key }) };
    });
    await this.store.transaction((tx) => this.store.outbox.add(tx, rows));
  }

  get open(): readonly string[] {
    return this.#open.map(({ id }) => id);
  }

  /** Ids still in the outbox. */
  get rows(): readonly string[] {
    return this.database.outboxRows().map(({ messageId }) => messageId);
  }

  /** Answers the open sends of these ids. */
  async answer(outcome: Outcome, ...ids: readonly string[]): Promise<void> {
    const answered = this.#open.filter(({ id }) => ids.includes(id));
    this.#open = this.#open.filter(({ id }) => !ids.includes(id));
    for (const { end } of answered) end(outcome);
    await this.clock.advance(0);
  }

  readonly #send: BaseSession['send'] = (batch, _options, done) => {
    for (const [index, out] of batch.entries()) {
      const { id } = out.mirror;
      this.sent.push(id);
      this.#open.push({ id, out, end: (outcome) => done(index, outcome) });
    }
  };
}

const ROW = {
  broker: 'memory',
  target: 'orders',
  destination: 'orders',
  type: 'order.created',
  contentType: 'application/json',
  headers: {},
  body: new Uint8Array([1]),
} as const;
