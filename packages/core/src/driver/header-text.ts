import { Buffer } from 'node:buffer';

/** A broker header as text, whatever a publisher wrote. Never throws. */
export function headerText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return JSON.stringify(value, plain) ?? '';
  } catch {
    // A nested value that JSON cannot hold; headers are read on the way to parking, which must not fail.
    return Object.prototype.toString.call(value);
  }
}

const plain = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;
