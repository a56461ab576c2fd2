import { cutText } from '../envelope/wire-headers.ts';
import { MessagingError } from '../errors/messaging-error.ts';
import { type Classified, classify } from '../failure/classify.ts';
import type { FailureClass } from '../failure/failure-class.ts';
import { fingerprintOf, type ParkedRecord, type ParkReason } from '../parking/parked-message.ts';
import { decideRetry } from '../retry/decide-retry.ts';
import type { AttemptFailure, AttemptRow } from '../store/inbox-store.ts';
import type { ConsumerSettings } from './consumer-options.ts';
import type { Judged, Verdict } from './incoming.ts';

export interface JudgeOptions {
  readonly settings: ConsumerSettings;
  readonly library: readonly ((error: unknown) => FailureClass | undefined)[];
  /** Rounds a wanted delay up to what the profile can hold. */
  readonly hold: (wantMs: number) => number;
  readonly random: () => number;
}

export interface FailedRun {
  readonly message: Judged;
  readonly error: unknown;
  readonly row: AttemptRow | undefined;
  readonly nowMs: number;
  /** The store could not be asked and the broker holds the delays: its count stands in. */
  readonly brokerCount?: number | undefined;
}

export interface Judgement {
  readonly failure: FailureClass;
  readonly verdict: Verdict;
  readonly record: AttemptFailure;
}

/** Pure. What becomes of a message whose run failed, and what is to be recorded of it. */
export function judgeFailure(options: JudgeOptions, failed: FailedRun): Judgement {
  const { settings, library, hold, random } = options;
  const { row, error, nowMs } = failed;
  const { envelope, headers } = failed.message;
  const occurredAtMs = envelope === undefined ? nowMs : Date.parse(envelope.occurredAt);
  const classified: Classified = classify(error, {
    rules: settings.failures,
    library,
    occurredAtMs,
    nowMs,
  });
  const isUnknown = classified.failure === 'unknown';
  const attempt = Math.max(attemptNumber(failed.message, row), failed.brokerCount ?? 0);
  const unknowns = Math.max(row?.unknowns ?? 0, headers.unknowns) + (isUnknown ? 1 : 0);
  const message: Judged = { ...failed.message, attempt, unknowns };
  const decision = decideRetry(settings.retry, {
    failure: classified.failure,
    attempt,
    unknowns,
    occurredAtMs,
    firstFailedAtMs: row?.firstFailedAtMs ?? nowMs,
    nowMs,
    random: random(),
    hold,
    ...(classified.retryAfterMs !== undefined && { retryAfterMs: classified.retryAfterMs }),
  });
  const record: AttemptFailure = {
    attempt,
    unknown: isUnknown,
    cycle: headers.cycle,
    atMs: nowMs,
    errorType: errorType(error),
    errorText: cutText(errorText(error), MAX_ERROR_TEXT),
    ...(decision.step === 'retry' && { dueAtMs: decision.dueAtMs }),
  };
  if (decision.step === 'retry') {
    const { dueAtMs, delayMs } = decision;
    return {
      failure: classified.failure,
      record,
      verdict: { step: 'retry', message, dueAtMs, delayMs, error },
    };
  }
  const parked = { ...failed, message, failure: classified.failure };
  return {
    failure: classified.failure,
    record,
    verdict: { step: 'park', message, record: parkedRecord(settings, decision.reason, parked) },
  };
}

const MAX_ERROR_TEXT = 512;

/** The larger of the stored count and the header's: two copies after a crash share one budget. */
export function attemptNumber(message: Judged, row: AttemptRow | undefined): number {
  return Math.max((row?.attempts ?? 0) + 1, message.headers.attempt);
}

/** The record of a message that ends in the parking lot. */
export function parkedRecord(
  settings: ConsumerSettings,
  reason: ParkReason,
  parked: FailedRun & { readonly failure?: FailureClass | undefined },
): ParkedRecord {
  const { message, error, row, nowMs, failure } = parked;
  const { envelope, headers, incoming } = message;
  const type = envelope?.type ?? incoming.native.type;
  const text = cutText(errorText(error), MAX_ERROR_TEXT);
  const code = errorCode(error);
  const routingKey = headers.retryFrom ?? incoming.native.subject;
  return {
    messageId: message.id,
    ...(type !== undefined && { type }),
    ...(envelope !== undefined && {
      schemaVersion: envelope.schemaVersion,
      producer: envelope.producer,
      ...(envelope.correlationId !== undefined && { correlationId: envelope.correlationId }),
    }),
    reason,
    ...(failure !== undefined && { failure }),
    attempts: message.attempt,
    totalAttempts: Math.max(message.attempt, (row?.totalAttempts ?? 0) + 1),
    ...(row !== undefined && { firstFailedAtMs: row.firstFailedAtMs }),
    lastFailedAtMs: nowMs,
    errorType: errorType(error),
    ...(code !== undefined && { errorCode: code }),
    errorText: text,
    fingerprint: fingerprintOf({ reason, errorType: errorType(error), errorText: text }),
    ...(headers.traceparent !== undefined && { traceparent: headers.traceparent }),
    ...(routingKey !== undefined && { routingKey }),
    consumer: settings.name,
    cycle: headers.cycle,
    parkedAtMs: nowMs,
  };
}

function errorType(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

function errorText(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    // A thrown value whose conversion throws still gets parked.
    return 'an error that cannot be shown as text';
  }
}

function errorCode(error: unknown): string | undefined {
  if (MessagingError.is(error)) return error.code;
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? cutText(error.code, 64) : undefined;
}
