/** Longest id in UTF-16 units; ids are keys of database indexes. */
export const MAX_ID_CHARS = 512;
/** Longest type, producer, destination, aggregate type. */
export const MAX_NAME_CHARS = 255;

export const ID_FORM: string = `text of 1 to ${MAX_ID_CHARS} characters, no control characters`;
export const NAME_FORM: string = `text of 1 to ${MAX_NAME_CHARS} characters, no control characters`;
export const INSTANT_FORM: string = 'ISO 8601 with date, time and Z or an offset';

/**
 * Text that a store can index and every broker carries as a native property: PostgreSQL text holds
 * no NUL, NATS headers no CR and LF, UTF-8 no half of a surrogate pair.
 */
export function isText(value: unknown, maxChars: number): value is string {
  if (typeof value !== 'string' || value.length === 0 || value.length > maxChars) return false;
  let hasSurrogate = false;
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i);
    if (unit < 0x20 || unit === 0x7f) return false;
    if (unit >= 0xd800 && unit <= 0xdfff) hasSurrogate = true;
  }
  return !hasSurrogate || value.isWellFormed();
}

/** An instant that means the same everywhere: a text without offset would be local time. */
export function isInstant(value: unknown): value is string {
  if (typeof value !== 'string' || value.length < 17 || value.length > 40) return false;
  const separator = value.charCodeAt(10);
  if (separator !== 0x54 && separator !== 0x74) return false; // T, t
  return hasOffset(value) && !Number.isNaN(Date.parse(value));
}

function hasOffset(value: string): boolean {
  const last = value.charCodeAt(value.length - 1);
  if (last === 0x5a || last === 0x7a) return true; // Z, z
  const sign = value.charCodeAt(value.length - 6);
  return sign === 0x2b || sign === 0x2d; // +hh:mm, -hh:mm
}
