import { configInvalid } from '../errors/create-config.ts';
import type { MessagingError } from '../errors/messaging-error.ts';
import { type Duration, parseDuration } from '../time/duration.ts';

/** Whole number: default, least and greatest value. */
export interface Bounds {
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
}

/** Reads the options of an adapter. Everything throws MSG_CONFIG_INVALID and names `<owner>.<key>`. */
export class OptionReader<T extends object> {
  readonly #owner: string;
  readonly #options: T;

  /** Refuses what is no object and the first key that is not among `known`. */
  constructor(owner: string, options: T, known: readonly (keyof T & string)[]) {
    this.#owner = owner;
    this.#options = options;
    if (typeof options !== 'object' || options === null) {
      throw configInvalid({ option: owner, value: options, expected: 'an object of options' });
    }
    const keys: readonly string[] = known;
    const unknown = Object.keys(options).find((key) => !keys.includes(key));
    if (unknown === undefined) return;
    const expected = `no unknown option "${unknown}"; known are ${keys.join(', ')}`;
    throw configInvalid({ option: owner, value: unknown, expected });
  }

  integer(key: keyof T & string, bounds: Bounds): number {
    const value: unknown = this.#options[key] ?? bounds.fallback;
    if (typeof value === 'number' && Number.isInteger(value) && within(value, bounds)) return value;
    throw this.invalid(key, `a whole number from ${bounds.min} to ${bounds.max}`, bounds.fallback);
  }

  /** All of a table at once. */
  integers<K extends keyof T & string>(table: Readonly<Record<K, Bounds>>): Record<K, number> {
    const keys = Object.keys(table) as K[];
    return Object.fromEntries(keys.map((key) => [key, this.integer(key, table[key])])) as Record<
      K,
      number
    >;
  }

  /** Milliseconds; the bounds are milliseconds too. */
  duration(key: keyof T & string, bounds: Bounds): number {
    const given: unknown = this.#options[key] ?? bounds.fallback;
    const ms = parseDuration(given as Duration, this.#nameOf(key));
    if (within(ms, bounds)) return ms;
    throw this.invalid(key, `${bounds.min} to ${bounds.max} ms`, bounds.fallback);
  }

  text(key: keyof T & string, fallback: string): string {
    const value: unknown = this.#options[key] ?? fallback;
    if (typeof value === 'string') return value;
    throw this.invalid(key, 'a string', fallback);
  }

  invalid(key: keyof T & string, expected: string, fallback?: string | number): MessagingError {
    return configInvalid({
      option: this.#nameOf(key),
      value: this.#options[key],
      expected,
      ...(fallback !== undefined && {
        fix: `Leave it out for the default ${JSON.stringify(fallback)}.`,
      }),
    });
  }

  #nameOf(key: string): string {
    return `${this.#owner}.${key}`;
  }
}

const within = (value: number, { min, max }: Bounds): boolean => value >= min && value <= max;
