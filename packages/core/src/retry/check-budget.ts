import type { Capabilities } from '../driver/capabilities.ts';
import {
  configDedupeWindow,
  configDelayTooLong,
  configDelayUnsupported,
} from '../errors/create.ts';
import { holdDelay } from './hold-delay.ts';
import type { RetryPolicy } from './retry-policy.ts';

/** Clocks of two hosts may differ by this much. */
const CLOCK_SKEW_MS = 5_000;

/**
 * Refuses at start what the profile cannot hold.
 * @throws MSG_CONFIG_DELAY_UNSUPPORTED, MSG_CONFIG_DELAY_TOO_LONG
 */
export function checkDelays(
  consumer: string,
  policy: RetryPolicy,
  at: { readonly profile: string; readonly capabilities: Capabilities },
): void {
  const { profile, capabilities } = at;
  for (const wantMs of policy.delaysMs) {
    const held = holdDelay(capabilities.delays, policy.delaysMs, wantMs);
    if (held === undefined) {
      throw configDelayUnsupported({
        profile,
        option: `consume('${consumer}').retry.delays`,
        reason: 'it cannot hold a message back',
      });
    }
    const maxMs = longestMs(capabilities);
    if (wantMs > maxMs) throw configDelayTooLong({ profile, consumer, askedMs: wantMs, maxMs });
  }
}

/**
 * The Inbox must remember an id for as long as a copy of it can still come.
 * @throws MSG_CONFIG_DEDUPE_WINDOW
 */
export function checkDedupeWindow(
  consumer: string,
  policy: RetryPolicy,
  at: { readonly dedupeWindowMs: number; readonly parkingLifeMs: number },
): void {
  const neededMs = budgetMs(policy) + at.parkingLifeMs + CLOCK_SKEW_MS;
  if (at.dedupeWindowMs >= neededMs) return;
  throw configDedupeWindow({ consumer, windowMs: at.dedupeWindowMs, neededMs });
}

/** Longest time from the first failure to the last run, lateness not counted. */
function budgetMs(policy: RetryPolicy): number {
  let sum = 0;
  for (let attempt = 1; attempt < policy.maxAttempts; attempt += 1) {
    const at = Math.min(attempt, policy.delaysMs.length) - 1;
    sum += (policy.delaysMs[at] ?? 0) * (1 + policy.jitter);
  }
  return Math.ceil(policy.maxElapsedMs === undefined ? sum : Math.min(sum, policy.maxElapsedMs));
}

function longestMs({ delays }: Capabilities): number {
  let longest = 0;
  for (const delay of delays) {
    longest = Math.max(longest, delay.by === 'held-log' ? Number.POSITIVE_INFINITY : delay.maxMs);
  }
  return longest;
}
