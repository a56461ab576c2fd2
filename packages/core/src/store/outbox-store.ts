import type { Address } from '../driver/topology.ts';

/** Number of hash slots that relays share. Stored with each row, so it never changes. */
export const OUTBOX_SLOTS = 64;

/** Rows that wait for their publish. */
export interface OutboxStore<Tx> {
  /** In the caller's transaction. Rejects with `MSG_STORE_DUPLICATE_ID` when (id, broker, target) exists. */
  add(tx: Tx, messages: readonly OutboxMessage[]): Promise<void>;
  /** Next version of an aggregate on a destination, under the aggregate's row lock. Starts at 1. */
  nextVersion(
    tx: Tx,
    of: { readonly destination: string; readonly type: string; readonly id: string },
  ): Promise<number>;
  /**
   * Renews the slots of `owner` and takes free or expired ones up to its fair share among live
   * relays; gives back what is above it, except slots listed in `busy`. Expiry is by the
   * database's time. Each take-over raises the slot's epoch.
   */
  lease(request: LeaseRequest): Promise<readonly SlotLease[]>;
  /** Gives all slots of `owner` back. */
  release(owner: string): Promise<void>;
  /**
   * Unsent rows of the owned slots in writing order, found by state and never by an id cursor.
   * Rows whose (broker, target, key) has an earlier refused row that blocks are left out, and
   * those in `except`.
   */
  fetch(query: OutboxQuery): Promise<readonly OutboxRow[]>;
  /** Deletes confirmed rows whose lease (slot, epoch) is still held; returns the `seq` of those deleted. */
  remove(rows: readonly FencedRow[], signal: AbortSignal): Promise<readonly string[]>;
  /** Parks a row in the outbox: it is kept with its reason and not fetched again. Fenced like `remove`. */
  refuse(row: FencedRow, reason: RefusedReason, signal: AbortSignal): Promise<boolean>;
  /** `refused` rows count too; `oldestAtMs`: of the unsent ones. */
  depth(signal: AbortSignal): Promise<OutboxDepth>;
}

export interface OutboxMessage {
  readonly messageId: string;
  /** Name of the broker in the bus. */
  readonly broker: string;
  readonly target: Address;
  readonly destination: string;
  readonly type: string;
  /** Aggregate; rows of one key and target are published in writing order. */
  readonly key?: string;
  readonly dedupId: string;
  readonly contentType: string;
  readonly correlationId?: string;
  readonly occurredAtMs?: number;
  /** Library headers as they go on the wire, trace context included. */
  readonly headers: Readonly<Record<string, string>>;
  /** Exact bytes. */
  readonly body: Uint8Array;
}

export interface OutboxRow extends OutboxMessage {
  /** Writing order; decimal text of a 64-bit number. */
  readonly seq: string;
  readonly slot: number;
  readonly createdAtMs: number;
}

export interface LeaseRequest {
  readonly owner: string;
  readonly ttlMs: number;
  /** Slots with publishes in flight: not given back now. */
  readonly busy: readonly number[];
  readonly signal: AbortSignal;
}

export interface SlotLease {
  readonly slot: number;
  readonly epoch: number;
}

export interface OutboxQuery {
  readonly leases: readonly SlotLease[];
  readonly brokers: readonly string[];
  readonly limit: number;
  /** `seq` of rows in flight or backing off. */
  readonly except: readonly string[];
  readonly signal: AbortSignal;
}

export interface FencedRow {
  readonly seq: string;
  readonly slot: number;
  readonly epoch: number;
}

export interface RefusedReason {
  readonly kind: string;
  readonly text: string;
  /** False: later rows of the same aggregate go on. */
  readonly blocks: boolean;
}

export interface OutboxDepth {
  readonly ready: number;
  readonly refused: number;
  readonly oldestAtMs?: number;
}
