import { cutText, MAX_ERROR_TEXT } from '../envelope/cut-text.ts';
import { carriedFailure } from './failures.ts';

/** What is kept of a thrown value. */
export interface ErrorDescription {
  /** Name of the error's class, or the kind of a value that is no error. */
  readonly type: string;
  readonly code?: string;
  /** At most 512 UTF-16 units. */
  readonly text: string;
}

const MAX_NAME = 128;

/** Looks through `transient(error)` to the error it was made from. Never throws. */
export function describeError(error: unknown): ErrorDescription {
  try {
    const inner = carriedFailure(error) === undefined ? error : (causeOf(error) ?? error);
    const type = inner instanceof Error ? inner.name : typeof inner;
    const text = inner instanceof Error ? inner.message : String(inner);
    const code = codeOf(inner);
    return {
      type: cutText(String(type), MAX_NAME),
      // A NUL cannot be stored as text by every database.
      text: cutText(String(text).replaceAll('\0', '\uFFFD'), MAX_ERROR_TEXT),
      ...(code !== undefined && { code }),
    };
  } catch {
    // A thrown value whose getters or conversion throw still ends in a record.
    return { type: typeof error, text: 'an error that cannot be shown as text' };
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  const { code } = error;
  if (typeof code !== 'string' && typeof code !== 'number') return undefined;
  return cutText(String(code), MAX_NAME) || undefined;
}
