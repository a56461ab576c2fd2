/** Longest id in UTF-16 units; ids are keys of database indexes. */
export const MAX_ID_CHARS = 512;
/** Longest type, producer, destination, aggregate type. */
export const MAX_NAME_CHARS = 255;

export const ID_FORM: string = `non-empty text of at most ${MAX_ID_CHARS} characters without NUL`;
export const NAME_FORM: string = `non-empty text of at most ${MAX_NAME_CHARS} characters without NUL`;
export const INSTANT_FORM: string = 'ISO 8601 with date, time and Z or an offset';

/** NUL is refused because PostgreSQL text cannot hold it. */
export function isText(value: unknown, maxChars: number): value is string {
  return (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= maxChars &&
    !value.includes('\0')
  );
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
