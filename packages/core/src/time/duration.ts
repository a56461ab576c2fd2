import { configInvalid } from '../errors/create.ts';

/** Milliseconds, or a number with its unit: `'250ms'`, `'5s'`, `'15m'`, `'12h'`, `'7d'`. */
export type Duration =
  | number
  | `${number}ms`
  | `${number}s`
  | `${number}m`
  | `${number}h`
  | `${number}d`;

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const FORM = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;
const EXPECTED = 'milliseconds as a number >= 0, or text such as "250ms", "5s", "15m", "12h", "7d"';

/**
 * Whole milliseconds of a duration, rounded up.
 *
 * @param where - Name of the option, for the error.
 * @throws MSG_CONFIG_INVALID not a duration; negative, infinite or over 2^53 - 1 ms.
 */
export function parseDuration(value: Duration, where: string): number {
  const ms = Math.ceil(typeof value === 'number' ? value : fromText(value));
  if (Number.isSafeInteger(ms) && ms >= 0) return ms === 0 ? 0 : ms;
  throw configInvalid({ option: where, value, expected: EXPECTED });
}

function fromText(value: unknown): number {
  const parts = typeof value === 'string' ? FORM.exec(value) : null;
  const ms = Number(parts?.[1]) * (UNIT_MS[parts?.[2] ?? ''] ?? Number.NaN);
  // 0.27 * 60000 is 16200.000000000002: noise of the binary fraction must not add a millisecond.
  return Number(ms.toPrecision(15));
}
