import type { Delay } from '../driver/capabilities.ts';

/** How a wanted delay will be held. */
export interface Held {
  readonly by: Delay['by'];
  /** Whole milliseconds. Never less than wanted, unless `chained`. */
  readonly delayMs: number;
  /** Too long for the mechanism: it comes back early, and the due gate puts it off again. */
  readonly chained?: true;
}

interface Candidate extends Held {
  /** Takes a slot or blocks its lane while it waits. */
  readonly costly: boolean;
  /** Wanted shorter than the mechanism's minimum. */
  readonly stretched?: boolean;
}

/**
 * Picks the mechanism for a delay and rounds up to what it can hold. Preferred, in this order: one
 * that holds it in one piece, one for which the delay is not below its minimum, one that holds
 * neither slot nor lane, the shortest, the first listed.
 *
 * @param bucketsMs - The consumer's own delays, in any order. Where the delay is a place (buckets,
 * retry topics) the smallest that is long enough is taken, else the longest, chained.
 * @returns undefined when no mechanism is available.
 */
export function holdDelay(
  delays: readonly Delay[],
  bucketsMs: readonly number[],
  wantMs: number,
): Held | undefined {
  const want = Math.max(Math.ceil(wantMs), 1);
  let best: Candidate | undefined;
  for (const delay of delays) {
    const candidate = candidateOf(delay, bucketsMs, want);
    if (candidate && (best === undefined || isBetter(candidate, best))) best = candidate;
  }
  if (best === undefined) return undefined;
  const { by, delayMs, chained } = best;
  return chained ? { by, delayMs, chained } : { by, delayMs };
}

function candidateOf(
  delay: Delay,
  bucketsMs: readonly number[],
  want: number,
): Candidate | undefined {
  switch (delay.by) {
    case 'return':
      return stepped(delay, want, 0, delay.holdsSlot || delay.blocksLane);
    case 'copy-at':
      return stepped(delay, want, delay.minMs, false);
    case 'bucket':
      return placed(delay.by, bucketsMs, want);
    case 'held-log':
      return bucketsMs.length > 0
        ? placed(delay.by, bucketsMs, want)
        : { by: delay.by, delayMs: want, costly: false };
    case 'return-linear':
      // The broker picks by its own count; the minimum is what it holds at least.
      return bounded(delay.by, want, delay.minMs);
  }
}

function stepped(
  delay: { readonly by: Delay['by']; readonly stepMs: number; readonly maxMs: number },
  want: number,
  minMs: number,
  costly: boolean,
): Candidate {
  const { by, maxMs } = delay;
  const step = Math.max(delay.stepMs, 1);
  const delayMs = Math.ceil(Math.max(want, minMs) / step) * step;
  if (delayMs <= maxMs) return { by, delayMs, costly, stretched: want < minMs };
  return { by, delayMs: Math.floor(maxMs / step) * step, costly, chained: true };
}

function placed(
  by: 'bucket' | 'held-log',
  bucketsMs: readonly number[],
  want: number,
): Candidate | undefined {
  let fit: number | undefined;
  let longest: number | undefined;
  for (const ms of bucketsMs) {
    if (longest === undefined || ms > longest) longest = ms;
    if (ms >= want && (fit === undefined || ms < fit)) fit = ms;
  }
  if (fit !== undefined) return { by, delayMs: fit, costly: false };
  return longest === undefined ? undefined : { by, delayMs: longest, costly: false, chained: true };
}

function bounded(by: 'return-linear', want: number, minMs: number): Candidate {
  const delayMs = Math.ceil(minMs);
  return delayMs >= want
    ? { by, delayMs, costly: false }
    : { by, delayMs, costly: false, chained: true };
}

function isBetter(one: Candidate, other: Candidate): boolean {
  if (!one.chained !== !other.chained) return !one.chained;
  if (!one.stretched !== !other.stretched) return !one.stretched;
  if (one.costly !== other.costly) return other.costly;
  return one.chained ? one.delayMs > other.delayMs : one.delayMs < other.delayMs;
}
