import type { Native, RawHeaders } from '../driver/driver.ts';
import { cutText, MAX_ERROR_TEXT } from '../envelope/cut-text.ts';
import { toHeaderText } from '../envelope/header-text.ts';
import { LATEST_MS, readCount, readText } from '../envelope/header-values.ts';
import { parkUnreadable } from '../errors/create.ts';
import type { FailureClass } from '../failure/failure-class.ts';

export { fingerprintOf } from './fingerprint.ts';

export const PARK_REASONS = [
  'permanent',
  'attempts',
  'age',
  'unknown',
  'invalid_contract',
  'unhandled',
  'order_gap',
  'order_conflict',
  'outside_dedupe_window',
  'crash_loop',
  'native',
] as const;

/** Why a message was given up. */
export type ParkReason = (typeof PARK_REASONS)[number];

/** What is known of a parked message. Instants are milliseconds since the epoch. */
export interface ParkedRecord {
  readonly messageId: string;
  readonly type?: string;
  readonly schemaVersion?: number;
  readonly reason: ParkReason;
  readonly failure?: FailureClass;
  /** In this cycle. */
  readonly attempts: number;
  readonly totalAttempts: number;
  readonly firstFailedAtMs?: number;
  readonly lastFailedAtMs: number;
  readonly errorType?: string;
  readonly errorCode?: string;
  /** At most 512 UTF-16 units. */
  readonly errorText?: string;
  /** Equal for failures of the same kind. */
  readonly fingerprint: string;
  readonly correlationId?: string;
  readonly traceparent?: string;
  readonly destination?: string;
  readonly routingKey?: string;
  readonly producer?: string;
  readonly consumer: string;
  /** Redrives before this parking. */
  readonly cycle: number;
  /** What the broker said when it dead-lettered by itself. */
  readonly nativeReason?: string;
  readonly parkedAtMs: number;
}

export interface ParkedDelivery {
  readonly body: Uint8Array;
  readonly headers: RawHeaders;
  readonly native: Native;
}

const PARK_PREFIX = 'ackord-park-';

/** Header name and the most that is kept of the text, in UTF-16 units. */
const TEXTS = {
  messageId: ['id', 512],
  type: ['type', 255],
  reason: ['reason', 32],
  failure: ['failure', 16],
  errorType: ['error-type', 128],
  errorCode: ['error-code', 128],
  errorText: ['error', MAX_ERROR_TEXT],
  fingerprint: ['fingerprint', 64],
  correlationId: ['correlation-id', 512],
  traceparent: ['traceparent', 128],
  destination: ['destination', 255],
  routingKey: ['routing-key', 255],
  producer: ['producer', 255],
  consumer: ['consumer', 255],
  nativeReason: ['native-reason', MAX_ERROR_TEXT],
} as const satisfies Partial<Record<keyof ParkedRecord, readonly [string, number]>>;

const NUMBERS = {
  schemaVersion: ['schema-version', Number.MAX_SAFE_INTEGER],
  attempts: ['attempts', 1_000_000],
  totalAttempts: ['total-attempts', 1_000_000],
  firstFailedAtMs: ['first-failed', LATEST_MS],
  lastFailedAtMs: ['last-failed', LATEST_MS],
  cycle: ['cycle', 1_000_000],
  parkedAtMs: ['at', LATEST_MS],
} as const satisfies Partial<Record<keyof ParkedRecord, readonly [string, number]>>;

const REQUIRED = [
  'messageId',
  'reason',
  'attempts',
  'totalAttempts',
  'lastFailedAtMs',
  'fingerprint',
  'consumer',
  'cycle',
  'parkedAtMs',
] as const satisfies readonly (keyof ParkedRecord)[];

/** The record as headers of the parked copy. Texts are cut to their limit. */
export function parkedHeaders(record: ParkedRecord): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [field, [name, max]] of Object.entries(TEXTS)) {
    const text = record[field as keyof typeof TEXTS];
    if (text) headers[PARK_PREFIX + name] = toHeaderText(cutText(text, max));
  }
  for (const [field, [name, max]] of Object.entries(NUMBERS)) {
    const count = record[field as keyof typeof NUMBERS];
    if (count === undefined) continue;
    headers[PARK_PREFIX + name] = String(Math.min(Math.max(Math.floor(count), 0), max));
  }
  return headers;
}

/**
 * The record of a delivery from the parking destination, with the untouched body. Optional fields
 * that are garbage count as absent.
 *
 * @throws MSG_PARK_UNREADABLE a required header is missing or garbage.
 */
export function readParkedRecord(
  delivery: ParkedDelivery,
): ParkedRecord & { readonly body: Uint8Array } {
  const { headers, body, native } = delivery;
  const read: Record<string, unknown> = {};
  for (const [field, [name, max]] of Object.entries(TEXTS)) {
    const text = readText(headers[PARK_PREFIX + name], max);
    if (text !== undefined) read[field] = text;
  }
  for (const [field, [name, max]] of Object.entries(NUMBERS)) {
    const count = readCount(headers[PARK_PREFIX + name], max);
    if (count !== undefined) read[field] = count;
  }
  if (!isReason(read['reason'])) delete read['reason'];
  if (!isFailure(read['failure'])) delete read['failure'];
  const missing = REQUIRED.find((field) => read[field] === undefined);
  if (missing !== undefined) {
    const name =
      PARK_PREFIX +
      (missing in TEXTS ? TEXTS[missing as 'reason'] : NUMBERS[missing as 'cycle'])[0];
    const reason = `header ${name} is missing or not readable`;
    throw parkUnreadable({ reason, ...(native.id !== undefined && { id: native.id }) });
  }
  return { ...(read as unknown as ParkedRecord), body };
}

function isReason(value: unknown): value is ParkReason {
  return PARK_REASONS.includes(value as ParkReason);
}

function isFailure(value: unknown): value is FailureClass {
  return value === 'transient' || value === 'permanent' || value === 'unknown';
}
