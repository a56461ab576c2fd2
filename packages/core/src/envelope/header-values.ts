import { fromHeaderText } from './header-text.ts';

/** 9999-12-31T23:59:59.999Z: nothing real is due later. */
export const LATEST_MS = 253_402_300_799_999;

/**
 * A whole decimal number from 0 to `max`; undefined for anything else, a sign, a point, blanks
 * and more digits than `max` has included.
 */
export function readCount(value: unknown, max: number): number | undefined {
  if (typeof value !== 'string' || value.length === 0 || value.length > 15) return undefined;
  let count = 0;
  for (let i = 0; i < value.length; i++) {
    const digit = value.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    count = count * 10 + digit;
  }
  return count <= max ? count : undefined;
}

/** A text that `toHeaderText` wrote; undefined when absent, empty, broken or over `maxChars`. */
export function readText(value: unknown, maxChars: number): string | undefined {
  // An escaped character takes up to nine characters in its escaped form.
  if (typeof value !== 'string' || value.length === 0 || value.length > maxChars * 9) {
    return undefined;
  }
  const text = fromHeaderText(value);
  return text !== undefined && text.length > 0 && text.length <= maxChars ? text : undefined;
}

/** A value that is carried byte for byte. */
export function readVerbatim(value: unknown, maxChars: number): string | undefined {
  return typeof value === 'string' && value.length > 0 && value.length <= maxChars
    ? value
    : undefined;
}
