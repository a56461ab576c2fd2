import type { ConnectionOptions } from 'node:tls';
import {
  type Bounds,
  createNaming,
  type NameRules,
  type Naming,
  OptionReader,
  readServerUrls,
  type ServerUrl,
} from '@ackord/core/driver';

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

type NumberOption =
  | 'connectTimeoutMs'
  | 'heartbeatSeconds'
  | 'maxMessageBytes'
  | 'consumerTimeoutMs';

/** Options with their defaults, checked once. `nodes` hold credentials: never print them. */
export interface Settings extends Readonly<Record<NumberOption, number>> {
  readonly nodes: readonly ServerUrl[];
  readonly naming: Naming;
  readonly connectionName: string;
  readonly tls: ConnectionOptions;
  readonly credentials: RabbitmqOptions['credentials'];
}

/**
 * RabbitMQ silently strips CR and LF and refuses the prefix `amq.`; other control characters cannot
 * be typed by an operator. A name is a short string of AMQP 0-9-1.
 */
export const NAME_RULES: NameRules = Object.freeze({
  allowed: /^\P{Cc}$/u,
  escape: '%',
  reserved: /^amq\./,
  maxBytes: 255,
});

const NUMBERS: Readonly<Record<NumberOption, Bounds>> = Object.freeze({
  connectTimeoutMs: { fallback: 5_000, min: 1, max: 600_000 },
  /** 16 bits on the wire. */
  heartbeatSeconds: { fallback: 10, min: 0, max: 65_535 },
  maxMessageBytes: { fallback: 16_777_216, min: 1, max: 536_870_912 },
  consumerTimeoutMs: { fallback: 1_800_000, min: 60_000, max: Number.MAX_SAFE_INTEGER },
});

const OTHERS = ['url', 'prefix', 'names', 'connectionName', 'tls', 'credentials'] as const;

/** @throws MSG_CONFIG_INVALID on an unknown key or a bad value; never shows a URL. */
export function readOptions(options: RabbitmqOptions): Settings {
  const keys = Object.keys(NUMBERS) as NumberOption[];
  const read = new OptionReader('rabbitmq', options, [...OTHERS, ...keys]);
  const { url, names = {}, tls = {}, credentials } = options;
  new OptionReader('rabbitmq.names', names, ['destinations', 'consumers']);
  const numbers = read.integers(NUMBERS);
  const heartbeat = String(numbers.heartbeatSeconds);
  return Object.freeze({
    ...numbers,
    nodes: readServerUrls('rabbitmq.url', url, { amqp: 5672, amqps: 5671 }, ({ searchParams }) =>
      searchParams.set('heartbeat', heartbeat),
    ),
    naming: createNaming(NAME_RULES, { ...names, prefix: read.text('prefix', '') }),
    connectionName: read.text('connectionName', 'ackord'),
    tls,
    credentials,
  });
}
