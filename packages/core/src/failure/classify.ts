import { MessagingError } from '../errors/messaging-error.ts';
import { type Duration, parseDuration } from '../time/duration.ts';
import type { FailureClass } from './failure-class.ts';
import { carriedFailure } from './failures.ts';
import { classifyHttp, retryAfterOf } from './http-failure.ts';
import { classifyNetwork } from './network-failure.ts';

/** When the failure happened; both milliseconds since the epoch. */
export interface FailureAt {
  readonly occurredAtMs: number;
  readonly nowMs: number;
}

/** A consumer's own answer; undefined: not one of its errors. */
export type FailureRule = (error: unknown, at: FailureAt) => FailureClass | undefined;

/** Answers for the errors of one client library or store. */
type LibraryClassifier = (error: unknown) => FailureClass | undefined;

export interface ClassifyOptions extends FailureAt {
  readonly rules?: readonly FailureRule[];
  readonly library: readonly LibraryClassifier[];
}

export interface Classified {
  readonly failure: FailureClass;
  /** The next attempt comes no earlier than this after now. At most 24 h. */
  readonly retryAfterMs?: number;
}

/** A server that asks for more is believed no further: 24 h. */
export const MAX_RETRY_AFTER_MS = 86_400_000;

/** Wrappers of clients and query builders nest a few levels; a chain of causes may be a ring. */
const MAX_CAUSES = 5;

/**
 * What a thrown value means. Asked in this order: the class that the error carries, the consumer's
 * rules, a class that one of its causes carries, then for the error and each cause the library's
 * classifiers, network codes and HTTP-like status; else `unknown`. A rule or classifier that throws
 * counts as no answer. Never throws.
 */
export function classify(error: unknown, options: ClassifyOptions): Classified {
  const chain = causesOf(error);
  const failure =
    first([error], carriedClass) ??
    byRules(error, options) ??
    first(chain, carriedClass) ??
    first(chain, (link) => byLibrary(link, options.library)) ??
    'unknown';
  if (failure === 'permanent') return { failure };
  const retryAfterMs = longestWait(chain, options.nowMs);
  return retryAfterMs === undefined ? { failure } : { failure, retryAfterMs };
}

/**
 * For errors that time heals: transient until `duration` after `occurred_at`, then permanent.
 *
 * @param applies - Says whether the error is one of these.
 * @throws MSG_CONFIG_INVALID `duration` is not a duration.
 */
export function until(
  duration: Duration,
  applies: (error: unknown, at: FailureAt) => boolean,
): FailureRule {
  const untilMs = parseDuration(duration, 'until(duration)');
  return (error, at) => {
    if (applies(error, at) !== true) return undefined;
    return at.nowMs - at.occurredAtMs < untilMs ? 'transient' : 'permanent';
  };
}

function causesOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = [error];
  let link = error;
  while (chain.length < MAX_CAUSES) {
    link = quietly(() => (link as { readonly cause?: unknown } | undefined | null)?.cause);
    if (link === undefined || link === null) break;
    chain.push(link);
  }
  return chain;
}

function carriedClass(link: unknown): FailureClass | undefined {
  return carriedFailure(link)?.failure ?? (MessagingError.is(link) ? link.failure : undefined);
}

function byRules(error: unknown, options: ClassifyOptions): FailureClass | undefined {
  const { rules = [], occurredAtMs, nowMs } = options;
  for (const rule of rules) {
    const answer = quietly(() => rule(error, { occurredAtMs, nowMs }));
    if (isClass(answer)) return answer;
  }
  return undefined;
}

function byLibrary(link: unknown, library: readonly LibraryClassifier[]): FailureClass | undefined {
  for (const classifier of library) {
    const answer = quietly(() => classifier(link));
    if (isClass(answer)) return answer;
  }
  return classifyNetwork(link) ?? classifyHttp(link);
}

function longestWait(chain: readonly unknown[], nowMs: number): number | undefined {
  let longest = 0;
  for (const link of chain) {
    const carried = quietly(() => carriedFailure(link)?.retryAfterMs) ?? 0;
    const asked = quietly(() => retryAfterOf(link, nowMs)) ?? 0;
    longest = Math.max(longest, carried, asked);
  }
  return longest > 0 ? Math.min(longest, MAX_RETRY_AFTER_MS) : undefined;
}

function first(
  chain: readonly unknown[],
  ask: (link: unknown) => FailureClass | undefined,
): FailureClass | undefined {
  for (const link of chain) {
    const answer = quietly(() => ask(link));
    if (isClass(answer)) return answer;
  }
  return undefined;
}

function isClass(answer: unknown): answer is FailureClass {
  return answer === 'transient' || answer === 'permanent' || answer === 'unknown';
}

function quietly<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    // Rules, foreign classifiers and getters of foreign errors: one that throws has no answer, and
    // the failure that is being judged must not be replaced by another.
    return undefined;
  }
}
