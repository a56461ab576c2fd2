import { type Classified, classify } from '../failure/classify.ts';
import { describeError } from '../failure/describe-error.ts';
import type { FailureClass } from '../failure/failure-class.ts';
import { fingerprintOf, type ParkedRecord, type ParkReason } from '../parking/parked-message.ts';
import { decideRetry, type RetryDecision } from '../retry/decide-retry.ts';
import type { RetryPolicy } from '../retry/retry-policy.ts';
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
  const decision =
    givenUp(settings.retry, row) ??
    decideRetry(settings.retry, {
      failure: classified.failure,
      attempt,
      unknowns,
      occurredAtMs,
      firstFailedAtMs: row?.firstFailedAtMs ?? nowMs,
      nowMs,
      random: random(),
      hold,
      // Another copy failed while this one waited: neither starts before the later of both.
      retryAfterMs: Math.max(classified.retryAfterMs ?? 0, (row?.dueAtMs ?? 0) - nowMs),
    });
  const described = describeError(error);
  const record: AttemptFailure = {
    attempt,
    unknown: isUnknown,
    cycle: headers.cycle,
    atMs: nowMs,
    errorType: described.type,
    errorText: described.text,
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

/** Another copy was parked: that decision stands for all of them. */
function givenUp(policy: RetryPolicy, row: AttemptRow | undefined): RetryDecision | undefined {
  if (row === undefined || row.dueAtMs !== undefined) return undefined;
  return { step: 'park', reason: givenUpReason(policy, row) };
}

/** Why a message whose row has no due time was parked, as far as the row tells. */
export function givenUpReason(policy: RetryPolicy, row: AttemptRow): ParkReason {
  if (row.attempts >= policy.maxAttempts) return 'attempts';
  return row.unknowns >= policy.unknownMaxAttempts ? 'unknown' : 'permanent';
}

/** The larger of the stored count and the header's: two copies after a crash share one budget. */
function attemptNumber(message: Judged, row: AttemptRow | undefined): number {
  return Math.max((row?.attempts ?? 0) + 1, message.headers.attempt);
}

/** Its business deadline has passed, and the consumer wants to see such messages. */
export function expiredVerdict(
  settings: ConsumerSettings,
  message: Judged,
  nowMs: number,
): Verdict {
  const error = new Error(`expired at ${message.envelope?.expiresAt}`);
  const failed = { message, error, row: undefined, nowMs, failure: 'permanent' } as const;
  return { step: 'park', message, record: parkedRecord(settings, 'age', failed) };
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
  const { type: errorType, text: errorText, code } = describeError(error);
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
    errorType,
    ...(code !== undefined && { errorCode: code }),
    errorText,
    fingerprint: fingerprintOf({ reason, errorType, errorText }),
    ...(headers.traceparent !== undefined && { traceparent: headers.traceparent }),
    ...(routingKey !== undefined && { routingKey }),
    consumer: settings.name,
    cycle: headers.cycle,
    parkedAtMs: nowMs,
  };
}
