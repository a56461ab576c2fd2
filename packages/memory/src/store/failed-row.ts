import type { AttemptFailure, AttemptRow } from '@ackord/core/store';

/**
 * The row after one more failure. Its count becomes the larger of the run's number and its own
 * count + 1; a later redrive cycle starts the counts anew, one of an earlier cycle only adds.
 */
export function failedRow(before: AttemptRow | undefined, failure: AttemptFailure): AttemptRow {
  const { attempt, cycle, atMs, dueAtMs, errorType, errorText } = failure;
  const unknowns = failure.unknown ? 1 : 0;
  const due = dueAtMs === undefined ? {} : { dueAtMs };
  const error = {
    ...(errorType !== undefined && { errorType }),
    ...(errorText !== undefined && { errorText }),
  };
  if (!before || cycle > before.redriveCount) {
    return {
      attempts: attempt,
      unknowns,
      firstFailedAtMs: atMs,
      lastFailedAtMs: Math.max(before?.lastFailedAtMs ?? atMs, atMs),
      ...due,
      redriveCount: cycle,
      totalAttempts: (before?.totalAttempts ?? 0) + attempt,
      ...error,
    };
  }
  const attempts = Math.max(cycle === before.redriveCount ? attempt : 0, before.attempts + 1);
  return {
    attempts,
    unknowns: before.unknowns + unknowns,
    firstFailedAtMs: Math.min(before.firstFailedAtMs, atMs),
    lastFailedAtMs: Math.max(before.lastFailedAtMs, atMs),
    ...laterDue(before, failure),
    redriveCount: before.redriveCount,
    totalAttempts: before.totalAttempts + (attempts - before.attempts),
    ...error,
  };
}

/** Copies that failed at the same time: no run before the later due time, none after a decision to park. */
function laterDue(before: AttemptRow, { dueAtMs }: AttemptFailure): Pick<AttemptRow, 'dueAtMs'> {
  if (before.dueAtMs === undefined || dueAtMs === undefined) return {};
  return { dueAtMs: Math.max(before.dueAtMs, dueAtMs) };
}
