import type { AttemptRow, ClaimOutcome, OutboxRow, RefusedReason } from '@ackord/core/store';

export interface InboxRow {
  readonly consumer: string;
  readonly messageId: string;
  readonly outcome: ClaimOutcome['outcome'];
  readonly processedAtMs: number;
}

export interface StoredAttempt {
  readonly consumer: string;
  readonly messageId: string;
  readonly row: AttemptRow;
  readonly errorType?: string;
  readonly errorText?: string;
}

export interface StoredOutboxRow {
  readonly row: OutboxRow;
  readonly refused?: RefusedReason;
}

/** What is committed. Keys of several parts are `rowKey` of them. */
export interface Tables {
  readonly inbox: Map<string, InboxRow>;
  readonly attempts: Map<string, StoredAttempt>;
  /** By consumer and aggregate. */
  readonly versions: Map<string, number>;
  /** By destination and aggregate. */
  readonly aggregates: Map<string, number>;
  /** By `seq`. */
  readonly outbox: Map<string, StoredOutboxRow>;
  /** Message id, broker and target of every row in it. */
  readonly outboxIds: Set<string>;
  readonly effects: Map<string, unknown>;
}

export function emptyTables(): Tables {
  return {
    inbox: new Map(),
    attempts: new Map(),
    versions: new Map(),
    aggregates: new Map(),
    outbox: new Map(),
    outboxIds: new Set(),
    effects: new Map(),
  };
}

export function rowKey(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}
