import { Buffer } from 'node:buffer';

/** Longest exchange or queue name: a short string of AMQP 0-9-1. */
const MAX_NAME_BYTES = 255;

/** Physical names of the scheme. All throw a plain Error when a name cannot be mapped. */
export interface Naming {
  exchange(destination: string): string;
  queue(consumer: string): string;
  retry(consumer: string): string;
  bucket(consumer: string, delayMs: number): string;
  parking(consumer: string): string;
}

/**
 * `inventory.reserve`, `inventory.reserve.retry`, `inventory.reserve.retry.5s`,
 * `inventory.reserve.parking`, with `prefix` before them. An override replaces the first part.
 */
export function createNaming(
  prefix: string,
  names: {
    readonly destinations?: Readonly<Record<string, string>>;
    readonly consumers?: Readonly<Record<string, string>>;
  },
): Naming {
  const physical = (table: Readonly<Record<string, string>> | undefined, name: string): string => {
    const given: unknown =
      table && Object.hasOwn(table, name) ? table[name] : name && `${prefix}${name}`;
    if (typeof given === 'string' && given !== '') return escapeName(given);
    throw new Error(
      `rabbitmq: "${name}" has no physical name, which takes at least one character. Name it, or correct \`names\`.`,
    );
  };
  const queue = (consumer: string, suffix: string): string =>
    fitting(`${physical(names.consumers, consumer)}${suffix}`, consumer);
  return {
    exchange: (destination) => fitting(physical(names.destinations, destination), destination),
    queue: (consumer) => queue(consumer, ''),
    retry: (consumer) => queue(consumer, '.retry'),
    bucket: (consumer, delayMs) => queue(consumer, `.retry.${delayLabel(delayMs)}`),
    parking: (consumer) => queue(consumer, '.parking'),
  };
}

/** `200ms`, `5s`, `5m`, `2h`: the largest unit that divides the delay, so that labels are unique. */
export function delayLabel(delayMs: number): string {
  if (delayMs % 3_600_000 === 0) return `${delayMs / 3_600_000}h`;
  if (delayMs % 60_000 === 0) return `${delayMs / 60_000}m`;
  return delayMs % 1000 === 0 ? `${delayMs / 1000}s` : `${delayMs}ms`;
}

/**
 * Percent-encodes what a name cannot hold: RabbitMQ silently strips CR and LF, refuses the prefix
 * `amq.`, and control characters cannot be typed by an operator. `%` too, to stay reversible.
 */
export function escapeName(name: string): string {
  if (!name.isWellFormed()) {
    throw new Error(
      `rabbitmq: the name ${JSON.stringify(name)} holds half a surrogate pair, which UTF-8 cannot carry. Rename it.`,
    );
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  const plain = name.replace(/[%\u0000-\u001f\u007f]/g, hex);
  return plain.startsWith('amq.') ? `${hex('a')}${plain.slice(1)}` : plain;
}

/** The name that `escapeName` was given. */
export function unescapeName(physical: string): string {
  return physical.replace(/%([0-9A-F]{2})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

const hex = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

function fitting(physical: string, name: string): string {
  const bytes = Buffer.byteLength(physical);
  if (bytes <= MAX_NAME_BYTES) return physical;
  throw new Error(
    `rabbitmq: "${name}" needs the physical name "${physical}" of ${bytes} bytes; RabbitMQ takes ${MAX_NAME_BYTES}. ` +
      'Shorten the name or the prefix, or give it an override in `names`.',
  );
}
