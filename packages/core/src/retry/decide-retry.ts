import type { FailureClass } from '../failure/failure-class.ts';
import type { ParkReason } from '../parking/parked-message.ts';
import type { RetryPolicy } from './retry-policy.ts';

/** A run that failed. Instants are milliseconds since the epoch. */
export interface FailedAttempt {
  readonly failure: FailureClass;
  /** Number of the run that failed, first = 1. */
  readonly attempt: number;
  /** Runs of this budget that failed as `unknown`, this one included. */
  readonly unknowns: number;
  readonly occurredAtMs: number;
  readonly firstFailedAtMs: number;
  readonly nowMs: number;
  /** In [0, 1). */
  readonly random: number;
  readonly retryAfterMs?: number;
  /** The delay that the profile can hold for a wanted one, rounded up. */
  readonly hold: (wantMs: number) => number;
}

export type RetryDecision =
  | { readonly step: 'retry'; readonly delayMs: number; readonly dueAtMs: number }
  | { readonly step: 'park'; readonly reason: ParkReason };

/** What becomes of a message after a failed run. Pure. */
export function decideRetry(policy: RetryPolicy, failed: FailedAttempt): RetryDecision {
  const { failure, attempt, nowMs } = failed;
  if (failure === 'permanent') return park('permanent');
  if (failure === 'unknown' && failed.unknowns >= policy.unknownMaxAttempts) return park('unknown');
  if (attempt >= policy.maxAttempts) return park('attempts');

  const wantMs = Math.ceil(Math.max(jittered(policy, failed), failed.retryAfterMs ?? 0));
  const delayMs = Math.max(Math.ceil(failed.hold(wantMs)), wantMs);
  const dueAtMs = nowMs + delayMs;
  // Judged at the time the message would come back: a retry that arrives too old is wasted work.
  if (isOver(dueAtMs - failed.occurredAtMs, policy.maxAgeMs)) return park('age');
  if (isOver(dueAtMs - failed.firstFailedAtMs, policy.maxElapsedMs)) return park('age');
  return { step: 'retry', delayMs, dueAtMs };
}

function jittered({ delaysMs, jitter }: RetryPolicy, failed: FailedAttempt): number {
  const index = Math.min(Math.max(failed.attempt, 1), delaysMs.length) - 1;
  const delayMs = delaysMs[index] ?? 0;
  return delayMs * (1 + jitter * failed.random);
}

function isOver(ms: number, limitMs: number | undefined): boolean {
  return limitMs !== undefined && ms > limitMs;
}

function park(reason: ParkReason): RetryDecision {
  return { step: 'park', reason };
}
