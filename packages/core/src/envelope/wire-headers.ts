import type { RawHeaders } from '../driver/driver.ts';
import { cutText, MAX_ERROR_TEXT } from './cut-text.ts';
import { toHeaderText } from './header-text.ts';
import { LATEST_MS, readCount, readText, readVerbatim } from './header-values.ts';

export { cutText } from './cut-text.ts';

/** Reserved prefix of the library. Users may not set headers that begin with it. */
const HEADER_PREFIX = 'ackord-';

/** A name never changes its meaning; a new meaning gets a new name. */
export const HEADERS = {
  version: 'ackord-v',
  attempt: 'ackord-attempt',
  unknowns: 'ackord-unknowns',
  cycle: 'ackord-cycle',
  deferrals: 'ackord-deferrals',
  dueAt: 'ackord-due',
  firstPublishedAt: 'ackord-first-published',
  retryFrom: 'ackord-retry-from',
  lastError: 'ackord-error',
  traceparent: 'traceparent',
  tracestate: 'tracestate',
} as const;

/** True for headers that belong to the library: a copy gets its own and keeps only the others. */
export function isWireHeader(name: string): boolean {
  return (
    name.startsWith(HEADER_PREFIX) || name === HEADERS.traceparent || name === HEADERS.tracestate
  );
}

/** Version of the header set. */
const HEADER_VERSION = '1';

/** Highest count that is believed; a larger one is garbage. */
const MAX_COUNT = 10_000;
/** Longest routing key of AMQP 0-9-1, which is the shortest limit of the brokers. */
const MAX_RETRY_FROM = 255;
const MAX_TRACEPARENT = 128;
const MAX_TRACESTATE = 1_024;

export interface WireHeaders {
  /** Number of the run that comes next, from 1. Default 1. */
  readonly attempt: number;
  /** Runs of this budget that failed as `unknown`. Default 0. */
  readonly unknowns: number;
  /** Redrives so far. Default 0. */
  readonly cycle: number;
  /** Times that the copy was put off without a run. Default 0. */
  readonly deferrals: number;
  /** Not before this time, milliseconds since the epoch. */
  readonly dueAtMs?: number;
  readonly firstPublishedAtMs?: number;
  /** Destination or routing key by which the message first came. */
  readonly retryFrom?: string;
  /** At most 512 UTF-16 units. */
  readonly lastError?: string;
  readonly traceparent?: string;
  readonly tracestate?: string;
}

/** Never throws: what is missing, malformed or out of bounds counts as absent. */
export function readWireHeaders(raw: RawHeaders): WireHeaders {
  const headers: Writable<WireHeaders> = {
    attempt: readCount(raw[HEADERS.attempt], MAX_COUNT) || 1,
    unknowns: readCount(raw[HEADERS.unknowns], MAX_COUNT) ?? 0,
    cycle: readCount(raw[HEADERS.cycle], MAX_COUNT) ?? 0,
    deferrals: readCount(raw[HEADERS.deferrals], MAX_COUNT) ?? 0,
  };
  const dueAtMs = readCount(raw[HEADERS.dueAt], LATEST_MS);
  if (dueAtMs !== undefined) headers.dueAtMs = dueAtMs;
  const firstPublishedAtMs = readCount(raw[HEADERS.firstPublishedAt], LATEST_MS);
  if (firstPublishedAtMs !== undefined) headers.firstPublishedAtMs = firstPublishedAtMs;
  const retryFrom = readText(raw[HEADERS.retryFrom], MAX_RETRY_FROM);
  if (retryFrom !== undefined) headers.retryFrom = retryFrom;
  const lastError = readText(raw[HEADERS.lastError], MAX_ERROR_TEXT);
  if (lastError !== undefined) headers.lastError = lastError;
  const traceparent = readVerbatim(raw[HEADERS.traceparent], MAX_TRACEPARENT);
  if (traceparent !== undefined) headers.traceparent = traceparent;
  const tracestate = readVerbatim(raw[HEADERS.tracestate], MAX_TRACESTATE);
  if (tracestate !== undefined) headers.tracestate = tracestate;
  return headers;
}

/** Leaves defaults out. What `readWireHeaders` would not take back is left out or cut, too. */
export function writeWireHeaders(headers: WireHeaders): Record<string, string> {
  const raw: Record<string, string> = { [HEADERS.version]: HEADER_VERSION };
  writeCount(raw, HEADERS.attempt, headers.attempt, 1);
  writeCount(raw, HEADERS.unknowns, headers.unknowns, 0);
  writeCount(raw, HEADERS.cycle, headers.cycle, 0);
  writeCount(raw, HEADERS.deferrals, headers.deferrals, 0);
  writeInstant(raw, HEADERS.dueAt, headers.dueAtMs);
  writeInstant(raw, HEADERS.firstPublishedAt, headers.firstPublishedAtMs);
  writeText(raw, HEADERS.retryFrom, headers.retryFrom, MAX_RETRY_FROM);
  writeText(raw, HEADERS.lastError, headers.lastError, MAX_ERROR_TEXT);
  if (readVerbatim(headers.traceparent, MAX_TRACEPARENT) !== undefined) {
    raw[HEADERS.traceparent] = headers.traceparent as string;
  }
  if (readVerbatim(headers.tracestate, MAX_TRACESTATE) !== undefined) {
    raw[HEADERS.tracestate] = headers.tracestate as string;
  }
  return raw;
}

/** Those of a message that was never sent: all counts have their defaults. */
export function firstWireHeaders(
  nowMs: number,
  traceparent: string | undefined,
  tracestate: string | undefined,
): Record<string, string> {
  if (traceparent === undefined && tracestate === undefined && nowMs >= 0 && nowMs <= LATEST_MS) {
    return {
      [HEADERS.version]: HEADER_VERSION,
      [HEADERS.firstPublishedAt]: String(Math.ceil(nowMs)),
    };
  }
  return writeWireHeaders({
    attempt: 1,
    unknowns: 0,
    cycle: 0,
    deferrals: 0,
    firstPublishedAtMs: nowMs,
    ...(traceparent !== undefined && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
  });
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function writeCount(
  raw: Record<string, string>,
  name: string,
  count: number,
  absent: number,
): void {
  if (count > absent) raw[name] = String(Math.min(Math.floor(count), MAX_COUNT));
}

/** Rounded up, so that a due time never moves forward. */
function writeInstant(raw: Record<string, string>, name: string, ms: number | undefined): void {
  if (ms === undefined || !(ms >= 0 && ms <= LATEST_MS)) return;
  raw[name] = String(Math.ceil(ms));
}

function writeText(
  raw: Record<string, string>,
  name: string,
  text: string | undefined,
  max: number,
): void {
  if (text) raw[name] = toHeaderText(cutText(text, max));
}
