const MAX_CHARS = 100;
/** More is never looked at: the value may be a field of a huge foreign message. */
const MAX_SEARCHED = 1_000;

/** `user:password@` of a URL, also where the password holds a slash. */
const CREDENTIALS = /:\/\/[^\s"]*@/g;
const SECRET_KEY = /pass|secret|token|credential/i;

/** A short, one-line form of any value for an error text, without what looks secret. Never throws. */
export function describeValue(value: unknown): string {
  const text = withoutCredentials(asText(value).slice(0, MAX_SEARCHED));
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}…`.toWellFormed();
}

/** Takes `user:password@` out of every URL in a text. */
export function withoutCredentials(text: string): string {
  return text.replace(CREDENTIALS, '://…@');
}

function asText(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_SEARCHED));
  if (typeof value === 'function') return `function ${value.name}`;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return (
      JSON.stringify(value, (key, held) => (SECRET_KEY.test(key) ? '…' : held)) ??
      Object.prototype.toString.call(value)
    );
  } catch {
    // Cycles and throwing getters: the kind of the object is all that can be said.
    return Object.prototype.toString.call(value);
  }
}

/** An address without `user:password@` and query, in case a whole URL was handed in. */
export function describeAddress(address: string): string {
  return address.replace(/^(\w+:\/\/)?.*@/, '$1').replace(/[?#].*$/, '');
}
