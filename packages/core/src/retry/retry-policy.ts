import { configInvalid } from '../errors/create.ts';
import { type Duration, parseDuration } from '../time/duration.ts';

/** How often, how late and for how long a failed message is tried again. */
export interface RetryOptions {
  /** Delay before attempt 2, 3, …; the last entry repeats. Default 5 s, 30 s, 5 min. */
  readonly delays?: readonly Duration[];
  /** Runs in total, the first one included. Default: one more than there are delays. */
  readonly maxAttempts?: number;
  /** Oldest age worth retrying, from `occurred_at`. Default: none. */
  readonly maxAge?: Duration;
  /** Longest time of retrying, from the first failure. Default: none. */
  readonly maxElapsed?: Duration;
  /** Share of the delay that chance may add, 0 to 1: a delay is a minimum. Default 0. */
  readonly jitter?: number;
  /** For failures of class `unknown`. Default 2 runs. */
  readonly unknown?: { readonly maxAttempts?: number };
  /** Deaths of the process after which the message that was running counts as the cause. Default 5. */
  readonly crashes?: number;
}

/** `RetryOptions`, checked and complete. Durations are milliseconds. */
export interface RetryPolicy {
  /** Never empty. */
  readonly delaysMs: readonly number[];
  readonly maxAttempts: number;
  readonly maxAgeMs?: number;
  readonly maxElapsedMs?: number;
  readonly jitter: number;
  readonly unknownMaxAttempts: number;
  readonly crashes: number;
}

const DEFAULT_DELAYS: readonly Duration[] = ['5s', '30s', '5m'];
/** The attempt header believes no larger number. */
const MAX_ATTEMPTS = 10_000;
/** Each may be a queue or topic of its own. */
const MAX_DELAYS = 50;

const KEYS: ReadonlySet<string> = new Set<keyof RetryOptions>([
  'delays',
  'maxAttempts',
  'maxAge',
  'maxElapsed',
  'jitter',
  'unknown',
  'crashes',
]);
const UNKNOWN_KEYS: ReadonlySet<string> = new Set(['maxAttempts']);

/** @throws MSG_CONFIG_INVALID an unknown key, or a value out of bounds. */
export function createRetryPolicy(
  options: RetryOptions | undefined = {},
  where = 'retry',
): RetryPolicy {
  checkObject(options, KEYS, where);
  const unknown = options.unknown ?? {};
  checkObject(unknown, UNKNOWN_KEYS, `${where}.unknown`);
  const delaysMs = readDelays(options.delays ?? DEFAULT_DELAYS, `${where}.delays`);
  const { maxAge, maxElapsed, jitter = 0 } = options;
  if (!(typeof jitter === 'number' && jitter >= 0 && jitter <= 1)) {
    throw configInvalid({
      option: `${where}.jitter`,
      value: jitter,
      expected: 'a share from 0 to 1',
    });
  }
  const count = (value: number, option: string): number => readCount(value, `${where}.${option}`);
  return Object.freeze({
    delaysMs,
    maxAttempts: count(options.maxAttempts ?? delaysMs.length + 1, 'maxAttempts'),
    ...(maxAge !== undefined && { maxAgeMs: readPositive(maxAge, `${where}.maxAge`) }),
    ...(maxElapsed !== undefined && {
      maxElapsedMs: readPositive(maxElapsed, `${where}.maxElapsed`),
    }),
    jitter,
    unknownMaxAttempts: count(unknown.maxAttempts ?? 2, 'unknown.maxAttempts'),
    crashes: count(options.crashes ?? 5, 'crashes'),
  });
}

function readDelays(delays: unknown, option: string): readonly number[] {
  if (!Array.isArray(delays) || delays.length === 0 || delays.length > MAX_DELAYS) {
    throw configInvalid({
      option,
      value: delays,
      expected: `a list of 1 to ${MAX_DELAYS} durations`,
      fix: 'For no retry at all set maxAttempts: 1.',
    });
  }
  const list = delays as readonly Duration[];
  return Object.freeze(list.map((delay, i) => readPositive(delay, `${option}[${i}]`)));
}

/** Zero would be a hot loop. */
function readPositive(value: Duration, option: string): number {
  const ms = parseDuration(value, option);
  if (ms > 0) return ms;
  throw configInvalid({ option, value, expected: 'a duration of at least 1 ms' });
}

function readCount(value: number, option: string): number {
  if (Number.isInteger(value) && value >= 1 && value <= MAX_ATTEMPTS) return value;
  throw configInvalid({ option, value, expected: `an integer from 1 to ${MAX_ATTEMPTS}` });
}

function checkObject(options: unknown, known: ReadonlySet<string>, where: string): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw configInvalid({ option: where, value: options, expected: 'an object' });
  }
  for (const key of Object.keys(options)) {
    if (known.has(key)) continue;
    const expected = `no key but ${[...known].join(', ')}`;
    throw configInvalid({ option: where, value: key, expected });
  }
}
