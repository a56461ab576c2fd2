import { createHash } from 'node:crypto';

/** Longest first: a UUID holds hex groups, a hex group holds digits. */
const IDS = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|\b(?=[a-z]*\d)[0-9a-z]{8,}\b|\d+/gi;

/**
 * Groups failures of the same kind: equal for texts that differ only in numbers, UUIDs and words of
 * eight or more characters that hold digits. 16 hex digits, the same in every version.
 */
export function fingerprintOf(of: {
  readonly reason: string;
  readonly errorType?: string | undefined;
  readonly errorText?: string | undefined;
}): string {
  const text = (of.errorText ?? '').replace(IDS, '#').replace(/\s+/g, ' ').trim();
  const key = JSON.stringify([of.reason, of.errorType ?? '', text]);
  return createHash('sha256').update(key).digest('hex').slice(0, 16);
}
