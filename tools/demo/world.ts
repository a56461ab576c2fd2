import { setTimeout as sleep } from 'node:timers/promises';
import type { Order } from '../../examples/orders/src/contracts.ts';
import type { Observations } from './observations.ts';
import type { RawMessage } from './read-orders.ts';
import type { TroublePlan } from './trouble.ts';

/** A row of a raw query. */
export type Row = Record<string, unknown>;

/** A message in the parking lot, as a raw client reads it. */
export interface RawParked {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Where a demo runs: services, their broker and their database, and what can be done to them. */
export interface World {
  /** What was started, for people. */
  readonly about: string;
  /** How a consumer is killed, for people. */
  readonly howKilled: string;
  /** Resolves once the order is stored with its event; tries again while the database is away. */
  place(order: Order): Promise<void>;
  /** Puts a message on the destination of the orders, past the library. */
  inject(message: RawMessage): Promise<void>;
  /** Starts a consumer; with a number it dies at that commit of its own, after COMMIT and before its ack. */
  startInventory(killAtCommit?: number): Promise<void>;
  /** Takes the database away and brings it back. Resolves to what was done. Undefined: it is not the demo's own. */
  readonly outage: (() => Promise<string>) | undefined;
  /** SQL on a connection of the demo's own. Rejects while the database is away. */
  sql(text: string): Promise<readonly Row[]>;
  /** Messages in every queue and bucket but the parking lot; those in the hands of a consumer may be counted late. */
  backlog(): Promise<number>;
  parkedCount(): Promise<number>;
  /** All of the parking lot, which is left as it is. To be asked once: a broker may count how often. */
  parked(): Promise<readonly RawParked[]>;
  /** Retry copies that the broker took; undefined: it does not count them. */
  retryCopies(): Promise<number | undefined>;
  /** Nothing has to be queued for this long to be sure that nothing comes any more, ms. */
  readonly quietMs: number;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly plan: TroublePlan;
  readonly observations: Observations;
  /** A consumer died, this being the message that it had committed and not acked. */
  readonly killed: (messageId: string) => void;
  /** Something ended that was not to end. */
  readonly failed: (error: unknown) => void;
  readonly note: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Longest outage that placing an order waits out. */
const PLACE_DEADLINE_MS = 60_000;
const PLACE_PAUSE_MS = 100;

/** Repeats `place`, which is safe to repeat, until it resolves: a shop tells its client to come again. */
export async function untilPlaced(place: () => Promise<unknown>): Promise<void> {
  const giveUpAtMs = Date.now() + PLACE_DEADLINE_MS;
  for (;;) {
    try {
      await place();
      return;
    } catch (error) {
      if (Date.now() > giveUpAtMs) throw error;
      await sleep(PLACE_PAUSE_MS);
    }
  }
}
