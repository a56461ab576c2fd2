/**
 * Text as a header value that every transport carries unchanged. NATS forbids CR and LF and trims
 * blanks, SQS takes only characters that XML has, AMQP and Kafka take anything. Escaped as
 * percent and two hex digits of each UTF-8 byte: `%` itself, C0 and C1 controls, DEL, the
 * non-characters U+FFFE and U+FFFF, and blanks at either end. Everything else stays readable.
 */
export function toHeaderText(text: string): string {
  const whole = text.toWellFormed();
  return whole.replace(UNSAFE, escapeChars);
}

/** Undoes `toHeaderText`. Undefined: the escapes are broken. */
export function fromHeaderText(value: string): string | undefined {
  if (!value.includes('%')) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    // Broken escapes: the header was not written by this library, so it counts as absent.
    return undefined;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the point
const UNSAFE = /[%\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffe\uffff]|^\s+|\s+$/g;

function escapeChars(chars: string): string {
  let out = '';
  for (const byte of new TextEncoder().encode(chars)) {
    out += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return out;
}
