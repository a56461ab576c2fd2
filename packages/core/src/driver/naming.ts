import { Buffer } from 'node:buffer';
import { configInvalid } from '../errors/create-config.ts';

/** What a broker takes as a name. */
export interface NameRules {
  /** Matches one character that may stand as it is. The others are escaped. */
  readonly allowed: RegExp;
  /** Puts two hexadecimal digits of a byte behind itself, and is escaped too: one allowed character. */
  readonly escape: string;
  /** Beginnings that the broker keeps for itself; their first character is escaped. */
  readonly reserved?: RegExp;
  /** Longest physical name in bytes of UTF-8. */
  readonly maxBytes: number;
  /** Between a consumer and a role; allowed characters. Default `.`. */
  readonly separator?: string;
}

export interface NamingOptions {
  /** Put before every name that has no override. */
  readonly prefix: string;
  /** Physical names by logical name; they get no prefix. */
  readonly destinations?: Readonly<Record<string, string>>;
  readonly consumers?: Readonly<Record<string, string>>;
}

/** Physical names. All throw MSG_CONFIG_INVALID when a name is empty, ill-formed or too long. */
export interface Naming {
  destination(name: string): string;
  consumer(name: string): string;
  /** Where retries come back; with a delay, where they wait for it. */
  retry(consumer: string, delayMs?: number): string;
  redrive(consumer: string): string;
  parking(consumer: string): string;
  deadLetters(consumer: string): string;
}

/**
 * One visible scheme for every broker: `inventory.reserve`, and behind it `.retry`, `.retry.5s`,
 * `.redrive`, `.parking`, `.dlx`.
 */
export function createNaming(rules: NameRules, options: NamingOptions): Naming {
  const { separator = '.' } = rules;
  const { prefix, destinations = {}, consumers = {} } = options;
  const physical = (
    overrides: Readonly<Record<string, string>>,
    name: string,
    ...roles: readonly string[]
  ): string => {
    const given: unknown = Object.hasOwn(overrides, name) ? overrides[name] : name && prefix + name;
    if (typeof given !== 'string' || given === '') throw nameless(name, given);
    return fitting([escapeName(given, rules), ...roles].join(separator), name, rules);
  };
  // Asked for every message; a service knows few destinations.
  const known = new Map<string, string>();
  return {
    destination: (name) => {
      let found = known.get(name);
      if (found === undefined) {
        found = physical(destinations, name);
        known.set(name, found);
      }
      return found;
    },
    consumer: (name) => physical(consumers, name),
    retry: (name, delayMs) =>
      physical(consumers, name, 'retry', ...(delayMs === undefined ? [] : [delayLabel(delayMs)])),
    redrive: (name) => physical(consumers, name, 'redrive'),
    parking: (name) => physical(consumers, name, 'parking'),
    deadLetters: (name) => physical(consumers, name, 'dlx'),
  };
}

/** `200ms`, `5s`, `5m`, `2h`: the largest unit that divides the delay, so that labels are unique. */
export function delayLabel(delayMs: number): string {
  if (delayMs % 3_600_000 === 0) return `${delayMs / 3_600_000}h`;
  if (delayMs % 60_000 === 0) return `${delayMs / 60_000}m`;
  return delayMs % 1000 === 0 ? `${delayMs / 1000}s` : `${delayMs}ms`;
}

/** Reversible by {@link unescapeName}. @throws MSG_CONFIG_INVALID half a surrogate pair. */
export function escapeName(name: string, rules: NameRules): string {
  if (!name.isWellFormed()) {
    throw configInvalid({
      option: 'name',
      value: JSON.stringify(name),
      expected: 'no half of a surrogate pair, which UTF-8 cannot carry',
      fix: 'Rename it.',
    });
  }
  const hex = (character: string): string =>
    [...Buffer.from(character)]
      .map((byte) => rules.escape + byte.toString(16).toUpperCase().padStart(2, '0'))
      .join('');
  const escaped = Array.from(name, (character) =>
    character !== rules.escape && rules.allowed.test(character) ? character : hex(character),
  );
  const [first = '', ...rest] = escaped;
  const kept = rules.reserved?.test(escaped.join('')) ? hex(first) : first;
  return kept + rest.join('');
}

/** The name that {@link escapeName} was given. */
export function unescapeName(physical: string, rules: NameRules): string {
  const bytes = new RegExp(`(?:[${rules.escape}][0-9A-F]{2})+`, 'g');
  const text = (run: string): string =>
    Buffer.from(run.split(rules.escape).join(''), 'hex').toString();
  return physical.replace(bytes, text);
}

function fitting(physical: string, name: string, { maxBytes }: NameRules): string {
  const bytes = Buffer.byteLength(physical);
  if (bytes <= maxBytes) return physical;
  throw configInvalid({
    option: `physical name of "${name}"`,
    value: physical,
    expected: `at most ${maxBytes} bytes, and this has ${bytes} bytes`,
    fix: 'Shorten the name or the prefix, or give it an override in names.',
  });
}

const nameless = (name: string, given: unknown): Error =>
  configInvalid({
    option: `physical name of "${name}"`,
    value: given,
    expected: 'at least one character',
    fix: 'Name it, or correct names.',
  });
