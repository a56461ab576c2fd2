import type { Codec } from '../envelope/codec.ts';
import { envelopeCodec } from '../envelope/codec.ts';
import { configInvalid } from '../errors/create.ts';
import type { FailureRule } from '../failure/classify.ts';
import type { OrderPolicy } from '../order/decide-order.ts';
import { createRetryPolicy, type RetryOptions, type RetryPolicy } from '../retry/retry-policy.ts';
import { type Duration, parseDuration } from '../time/duration.ts';

/** How a consumer runs its handlers. Durations are milliseconds or texts such as `5s`, `15m`. */
export interface ConsumerOptions {
  /** Budget of retries. Default: delays 5 s, 30 s, 5 min, then parked. */
  readonly retry?: RetryOptions;
  /** Handlers that run at once. Default 16. */
  readonly concurrency?: number;
  /** Longest run of a handler, its transaction included. Default 10 s. */
  readonly handlerTimeout?: Duration;
  /** Classes of errors that the library cannot know; asked in order, before its own. */
  readonly failures?: readonly FailureRule[];
  /** `none` (default): retries may reorder. `latest`: a lower aggregate version is stale. */
  readonly order?: OrderPolicy;
  /** Types without a handler: acked and counted (`ack`, default) or parked (`park`). */
  readonly unhandled?: 'ack' | 'park';
  /** `expiresAt` has passed: counted (`count`, default) or parked (`park`). */
  readonly expired?: 'count' | 'park';
  /** Without an Inbox the handler must be idempotent by nature; say why. Default: the Inbox is used. */
  readonly inbox?: { readonly none: string };
  /** Where a log is read from when the group is new. Default `earliest`. */
  readonly start?: 'earliest' | 'latest';
  /** Bodies other than the library's envelope. Default: the envelope. */
  readonly codec?: Codec;
  /** How long this consumer's Inbox remembers an id. Default 7 d. */
  readonly dedupeWindow?: Duration;
  /** How long a parked message may wait for a person and still be redriven. Default 3 d. */
  readonly parkingLife?: Duration;
}

export interface ConsumerSettings {
  readonly name: string;
  readonly retry: RetryPolicy;
  readonly concurrency: number;
  readonly handlerTimeoutMs: number;
  readonly failures: readonly FailureRule[];
  readonly order: OrderPolicy;
  readonly unhandled: 'ack' | 'park';
  readonly expired: 'count' | 'park';
  readonly withoutInbox: string | undefined;
  readonly start: 'earliest' | 'latest';
  readonly codec: Codec;
  readonly dedupeWindowMs: number;
  readonly parkingLifeMs: number;
}

const KEYS = new Set<string>([
  'retry',
  'concurrency',
  'handlerTimeout',
  'failures',
  'order',
  'unhandled',
  'expired',
  'inbox',
  'start',
  'codec',
  'dedupeWindow',
  'parkingLife',
] satisfies (keyof ConsumerOptions)[]);

const MAX_CONCURRENCY = 10_000;
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._:-]*$/u;

/** @throws MSG_CONFIG_INVALID for an unknown option or a value out of bounds. */
export function consumerSettings(name: string, options: ConsumerOptions): ConsumerSettings {
  const where = `consume('${name}')`;
  checkKeys(options, KEYS, where);
  if (!NAME.test(name) || name.length > 200) {
    throw configInvalid({
      option: `consume(name)`,
      value: name,
      expected: '1 to 200 letters, digits, dots, colons, dashes or underscores',
    });
  }
  const concurrency = options.concurrency ?? 16;
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > MAX_CONCURRENCY) {
    throw configInvalid({
      option: `${where}.concurrency`,
      value: concurrency,
      expected: `an integer from 1 to ${MAX_CONCURRENCY}`,
    });
  }
  const order = oneOf(`${where}.order`, options.order ?? 'none', ['none', 'latest']);
  const none = options.inbox?.none;
  if (options.inbox !== undefined && (typeof none !== 'string' || none.trim() === '')) {
    throw configInvalid({
      option: `${where}.inbox`,
      value: options.inbox,
      expected: "{ none: 'why this handler is idempotent by nature' }",
    });
  }
  return Object.freeze({
    name,
    retry: createRetryPolicy(options.retry ?? {}, `${where}.retry`),
    concurrency,
    handlerTimeoutMs: positive(
      `${where}.handlerTimeout`,
      parseDuration(options.handlerTimeout ?? '10s', `${where}.handlerTimeout`),
    ),
    failures: rules(`${where}.failures`, options.failures ?? []),
    order,
    unhandled: oneOf(`${where}.unhandled`, options.unhandled ?? 'ack', ['ack', 'park']),
    expired: oneOf(`${where}.expired`, options.expired ?? 'count', ['count', 'park']),
    withoutInbox: none,
    start: oneOf(`${where}.start`, options.start ?? 'earliest', ['earliest', 'latest']),
    codec: codecOf(`${where}.codec`, options.codec ?? envelopeCodec),
    dedupeWindowMs: positive(
      `${where}.dedupeWindow`,
      parseDuration(options.dedupeWindow ?? '7d', `${where}.dedupeWindow`),
    ),
    parkingLifeMs: parseDuration(options.parkingLife ?? '3d', `${where}.parkingLife`),
  });
}

/** @throws MSG_CONFIG_INVALID no object, or naming the first unknown key and the known ones. */
export function checkKeys(options: unknown, known: ReadonlySet<string>, where: string): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw configInvalid({ option: where, value: options, expected: 'an object with options' });
  }
  for (const key of Object.keys(options)) {
    if (known.has(key)) continue;
    const expected = `one of ${[...known].join(', ')}`;
    throw configInvalid({ option: where, value: key, expected });
  }
}

/** A rule that cannot be called would count as one without an answer. */
function rules(option: string, value: readonly FailureRule[]): readonly FailureRule[] {
  if (Array.isArray(value) && value.every((rule) => typeof rule === 'function')) return value;
  throw configInvalid({ option, value, expected: 'a list of functions' });
}

function codecOf(option: string, value: Codec): Codec {
  if (typeof value?.decode === 'function') return value;
  throw configInvalid({ option, value, expected: 'a codec with encode and decode' });
}

function oneOf<T extends string>(option: string, value: T, allowed: readonly T[]): T {
  if (allowed.includes(value)) return value;
  throw configInvalid({ option, value, expected: `one of ${allowed.join(', ')}` });
}

function positive(option: string, ms: number): number {
  if (ms > 0) return ms;
  throw configInvalid({ option, value: ms, expected: 'more than 0 ms' });
}
