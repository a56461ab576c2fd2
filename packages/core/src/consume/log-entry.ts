import type { Lane, LogRecord } from '../driver/driver.ts';
import { readWireHeaders } from '../envelope/wire-headers.ts';
import type { LedgerEntry } from '../settle/offset-ledger.ts';
import type { Incoming } from './incoming.ts';
import type { LogRun } from './log-runs.ts';

/** A record from its arrival until the prefix has passed it. */
export interface LogEntry extends LedgerEntry, LogRun {
  readonly position: bigint;
  done: boolean;
  /** Undefined once it is done: what waits for the prefix keeps no body. */
  record: LogRecord | undefined;
  readonly receivedAtMs: number;
  readonly key: string | undefined;
  /** 0: at once. */
  readonly dueAtMs: number;
  /** Runs that ended without an outcome. */
  releases: number;
}

/**
 * A due time of the header this much past the topic's own delay is waited for in hand: two clocks.
 * Anything later would hold up the records behind it; the pipeline puts it off by another copy.
 */
const CLOCK_SKEW_MS = 5_000;

export function createLogEntry(
  record: LogRecord,
  receivedAtMs: number,
  isRetry: boolean,
): LogEntry {
  const { position, key, brokerAtMs } = record;
  return {
    position,
    record,
    receivedAtMs,
    key,
    lock: key ?? position,
    brokerAtMs,
    dueAtMs: isRetry ? heldUntilMs(record) : 0,
    seq: 0,
    done: false,
    releases: 0,
  };
}

export function incomingOf(record: LogRecord, lane: Lane, receivedAtMs: number): Incoming {
  const { body, headers, native, key, brokerAtMs, delayMs = 0 } = record;
  return {
    body,
    headers,
    native,
    key,
    receivedAtMs,
    brokerAtMs,
    redelivered: false,
    place: `${lane}@${record.position}`,
    heldUntilMs: delayMs > 0 ? brokerAtMs + delayMs : undefined,
  };
}

function heldUntilMs({ headers, brokerAtMs, delayMs = 0 }: LogRecord): number {
  const byTopicMs = delayMs > 0 ? brokerAtMs + delayMs : 0;
  const dueAtMs = readWireHeaders(headers).dueAtMs ?? 0;
  const isNear = dueAtMs <= Math.max(byTopicMs, brokerAtMs) + CLOCK_SKEW_MS;
  return isNear ? Math.max(byTopicMs, dueAtMs) : byTopicMs;
}
