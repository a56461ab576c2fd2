import type { ConnectionOptions } from 'node:tls';
import { createNaming, type Naming } from './names.ts';

export interface RabbitmqOptions {
  /** `amqp://` or `amqps://` URL of a node, or several that are tried in order. */
  readonly url: string | readonly string[];
  /** Longest wait for one node to finish the handshake, and for a close. Default 5 000 ms. */
  readonly connectTimeoutMs?: number;
  /**
   * A silent connection is given up after about three of them. Default 10; 0 turns it off. Wins
   * over `heartbeat` in a URL.
   */
  readonly heartbeatSeconds?: number;
  /** Put before every physical name, for example `staging.`. Default none. */
  readonly prefix?: string;
  /** Physical names (used as they are, without the prefix) by logical name. Default none. */
  readonly names?: {
    readonly destinations?: Readonly<Record<string, string>>;
    readonly consumers?: Readonly<Record<string, string>>;
  };
  /** Shown in the management UI. Default `ackord`. */
  readonly connectionName?: string;
  /** `max_message_size` of the server. Default 16 777 216 bytes, the server's own default. */
  readonly maxMessageBytes?: number;
  /** `consumer_timeout` of the server. Default 1 800 000 ms, the server's own default. */
  readonly consumerTimeoutMs?: number;
  /** Certificates and the like for `amqps`. Default: Node's. */
  readonly tls?: ConnectionOptions;
  /** SASL answer instead of user and password of the URL (`credentials` of amqplib). */
  readonly credentials?: { readonly mechanism: string; response(): Buffer };
}

/** Options with their defaults, checked once. `nodes` hold credentials: never print them. */
export interface Settings {
  readonly nodes: readonly Node[];
  readonly connectTimeoutMs: number;
  readonly heartbeatSeconds: number;
  readonly naming: Naming;
  readonly connectionName: string;
  readonly maxMessageBytes: number;
  readonly consumerTimeoutMs: number;
  readonly tls: ConnectionOptions;
  readonly credentials: RabbitmqOptions['credentials'];
}

export interface Node {
  readonly url: string;
  /** `host:port`, safe to print. */
  readonly shown: string;
}

/** Default, least and greatest value. */
const NUMBERS = Object.freeze({
  connectTimeoutMs: [5_000, 1, 600_000],
  /** 16 bits on the wire. */
  heartbeatSeconds: [10, 0, 65_535],
  maxMessageBytes: [16_777_216, 1, 536_870_912],
  consumerTimeoutMs: [1_800_000, 60_000, Number.MAX_SAFE_INTEGER],
}) satisfies Readonly<Record<string, readonly [number, number, number]>>;

const OTHERS = ['url', 'prefix', 'names', 'connectionName', 'tls', 'credentials'];
const KEYS: readonly string[] = Object.freeze([...OTHERS, ...Object.keys(NUMBERS)]);

/** @throws TypeError with a readable text on an unknown key or a bad value; never shows a URL. */
export function readOptions(options: RabbitmqOptions): Settings {
  const unknown = Object.keys(options).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) {
    throw new TypeError(`rabbitmq: unknown option "${unknown}". Known are ${KEYS.join(', ')}.`);
  }
  const names = options.names ?? {};
  if (Object.keys(names).some((key) => key !== 'destinations' && key !== 'consumers')) {
    throw new TypeError('rabbitmq: names takes { destinations, consumers } and nothing else.');
  }
  const heartbeatSeconds = integer(options, 'heartbeatSeconds');
  return Object.freeze({
    nodes: readNodes(options.url, heartbeatSeconds),
    connectTimeoutMs: integer(options, 'connectTimeoutMs'),
    heartbeatSeconds,
    naming: createNaming(text(options.prefix, 'prefix', ''), names),
    connectionName: text(options.connectionName, 'connectionName', 'ackord'),
    maxMessageBytes: integer(options, 'maxMessageBytes'),
    consumerTimeoutMs: integer(options, 'consumerTimeoutMs'),
    tls: options.tls ?? {},
    credentials: options.credentials,
  });
}

function integer(options: RabbitmqOptions, key: keyof typeof NUMBERS): number {
  const [fallback = 0, min = 0, max = 0] = NUMBERS[key];
  const value = options[key] ?? fallback;
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new TypeError(
    `rabbitmq: ${key} is ${String(value)}; it must be a whole number from ${min} to ${max}. ` +
      `Leave it out for the default ${fallback}.`,
  );
}

function text(value: string | undefined, key: string, fallback: string): string {
  if (value === undefined) return fallback;
  if (typeof value === 'string') return value;
  throw new TypeError(`rabbitmq: ${key} must be a string, not ${typeof value}.`);
}

function readNodes(given: string | readonly string[], heartbeatSeconds: number): readonly Node[] {
  const urls = typeof given === 'string' ? [given] : given;
  if (!Array.isArray(urls) || urls.length === 0) {
    throw new TypeError(
      'rabbitmq: url is missing. Give amqp://user:password@host:5672/vhost, or a list of them.',
    );
  }
  return urls.map((url: unknown, at) => readNode(url, at, heartbeatSeconds));
}

function readNode(given: unknown, at: number, heartbeatSeconds: number): Node {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  // The text is not shown: a URL that does not parse may still hold a password.
  if (!url?.hostname || (url.protocol !== 'amqp:' && url.protocol !== 'amqps:')) {
    throw new TypeError(
      `rabbitmq: url number ${at + 1} is not an amqp:// or amqps:// URL with a host. ` +
        'Percent-encode special characters of user and password.',
    );
  }
  url.searchParams.set('heartbeat', String(heartbeatSeconds));
  const port = url.port || (url.protocol === 'amqps:' ? '5671' : '5672');
  return { url: url.href, shown: `${url.hostname}:${port}` };
}
