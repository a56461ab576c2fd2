/** The thing that a message is about, and the unit of ordering. */
export interface Aggregate {
  readonly type: string;
  readonly id: string;
  /** Contiguous per aggregate and destination, from 1. */
  readonly version?: number;
}

/** One fact. Never changes on retry, parking, redrive or bridging. */
export interface Envelope<D = unknown> {
  /** Opaque text, minted once. */
  readonly id: string;
  readonly type: string;
  /** Integer >= 1. */
  readonly schemaVersion: number;
  /** ISO 8601 with `Z` or an offset. */
  readonly occurredAt: string;
  readonly producer: string;
  readonly correlationId?: string;
  readonly causationId?: string;
  readonly aggregate?: Aggregate;
  /** ISO 8601. Past it the message is settled as expired, without a run. */
  readonly expiresAt?: string;
  readonly data: D;
}
