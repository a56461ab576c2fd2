import { withoutCredentials } from './describe-value.ts';

/** Longest part of a text that is not ours. */
const MAX_CHARS = 240;

/** What a client or broker said, on one line, without what looks secret; undefined: it said nothing. Never throws. */
export function describeCause(cause: unknown): string | undefined {
  try {
    const text = textOf(cause)
      ?.replace(/\s+/g, ' ')
      .trim()
      .replace(/[.:]+$/, '');
    if (!text) return undefined;
    return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}…`.toWellFormed();
  } catch {
    // A foreign error whose getters throw: the text of our own stands without it.
    return undefined;
  }
}

/** `: reason`, or nothing. */
export function afterColon(reason: string | undefined): string {
  return reason === undefined ? '' : `: ${reason}`;
}

function textOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return isFault(cause) ? textOf(cause.error) : undefined;
  // Node reports an address that failed for each of its IPs with an empty message.
  if (cause instanceof AggregateError && cause.message === '') {
    return cause.errors.map(textOf).filter(Boolean).join(', ');
  }
  if (cause.message === '') return codeOf(cause);
  return withoutCredentials(cause.message);
}

function codeOf(error: Error): string | undefined {
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' || typeof code === 'number' ? String(code) : undefined;
}

/** A lost session is reported as a fault of its driver. */
const isFault = (cause: unknown): cause is { readonly error: unknown } =>
  typeof cause === 'object' && cause !== null && 'kind' in cause && 'error' in cause;
