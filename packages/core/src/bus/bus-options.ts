import { checkKeys } from '../consume/consumer-options.ts';
import type { Driver } from '../driver/driver.ts';
import { configInvalid } from '../errors/create.ts';
import { DEFAULT_BACKOFF } from '../lifecycle/backoff.ts';
import type { TopologyMode } from '../lifecycle/connection.ts';
import type { Interceptor } from '../observe/steps.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';
import { systemClock } from '../time/clock.ts';
import { type Duration, parseDuration } from '../time/duration.ts';

export interface BusOptions<Tx> {
  /** Name of this service; becomes the `producer` of its messages. */
  readonly producer: string;
  readonly broker: Driver;
  /** Where effects, Inbox and Outbox live. Without one, say why: attempts then follow headers alone. */
  readonly store: Store<Tx> | { readonly none: string };
  /** `create` (default) declares what is missing, `verify` only checks, `assume` does neither. */
  readonly topology?: TopologyMode;
  /** Destinations to declare at the start; others are declared at their first use. */
  readonly destinations?: readonly string[];
  readonly connect?: {
    /** Longest wait for the first connection. Default 30 s. */
    readonly timeout?: Duration;
    /** First and longest pause between tries. Default 100 ms and 30 s. */
    readonly backoff?: Duration;
    readonly backoffCap?: Duration;
  };
  readonly publish?: {
    /** Default 10 s. */
    readonly timeout?: Duration;
    /** Messages at the broker without an answer. Default 1 000. */
    readonly maxInFlight?: number;
  };
  /** False: this bus sends no outbox rows. */
  readonly relay?: false | { readonly lease?: Duration; readonly maxHeld?: number };
  /** Awaited at each step of a delivery; for tracing and for tests. */
  readonly intercept?: Interceptor;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** 0 <= n < 1; for jitter. Default `Math.random`. */
  readonly random?: () => number;
}

export interface BusSettings<Tx> {
  readonly producer: string;
  readonly driver: Driver;
  readonly store: Store<Tx> | undefined;
  readonly mode: TopologyMode;
  readonly destinations: readonly string[];
  readonly startTimeoutMs: number;
  readonly backoff: { readonly baseMs: number; readonly capMs: number };
  readonly publishTimeoutMs: number;
  readonly maxInFlight: number;
  readonly relay: { readonly leaseMs: number; readonly maxHeld: number } | undefined;
  readonly intercept: Interceptor | undefined;
  readonly clock: Clock;
  readonly random: () => number;
}

const KEYS = new Set<string>([
  'producer',
  'broker',
  'store',
  'topology',
  'destinations',
  'connect',
  'publish',
  'relay',
  'intercept',
  'clock',
  'random',
] satisfies (keyof BusOptions<unknown>)[]);

/** @throws MSG_CONFIG_INVALID */
export function busSettings<Tx>(options: BusOptions<Tx>): BusSettings<Tx> {
  checkKeys(options, KEYS, 'createBus');
  const { producer, broker, store, connect = {}, publish = {}, relay = {} } = options;
  checkKeys(connect, new Set(['timeout', 'backoff', 'backoffCap']), 'createBus.connect');
  checkKeys(publish, new Set(['timeout', 'maxInFlight']), 'createBus.publish');
  if (typeof producer !== 'string' || producer.trim() === '') {
    throw invalid('producer', producer, 'the name of this service');
  }
  if (typeof broker?.open !== 'function') {
    throw invalid('broker', broker, 'a driver, for example memoryQueue()');
  }
  const mode = options.topology ?? 'create';
  if (!['create', 'verify', 'assume'].includes(mode)) {
    throw invalid('topology', mode, 'create, verify or assume');
  }
  return {
    producer,
    driver: broker,
    store: storeOf(store),
    mode,
    destinations: names(options.destinations ?? []),
    startTimeoutMs: duration('connect.timeout', connect.timeout, 30_000),
    backoff: {
      baseMs: duration('connect.backoff', connect.backoff, DEFAULT_BACKOFF.baseMs),
      capMs: duration('connect.backoffCap', connect.backoffCap, DEFAULT_BACKOFF.capMs),
    },
    publishTimeoutMs: duration('publish.timeout', publish.timeout, 10_000),
    maxInFlight: count('publish.maxInFlight', publish.maxInFlight, 1_000),
    relay: relaySettings(relay),
    intercept: callable('intercept', options.intercept),
    clock: clockOf(options.clock ?? systemClock),
    random: callable('random', options.random) ?? Math.random,
  };
}

function relaySettings(
  relay: false | { readonly lease?: Duration; readonly maxHeld?: number },
): BusSettings<unknown>['relay'] {
  if (relay === false) return undefined;
  checkKeys(relay, new Set(['lease', 'maxHeld']), 'createBus.relay');
  return {
    leaseMs: duration('relay.lease', relay.lease, 15_000),
    maxHeld: count('relay.maxHeld', relay.maxHeld, 1_000),
  };
}

function storeOf<Tx>(store: BusOptions<Tx>['store']): Store<Tx> | undefined {
  if (typeof store !== 'object' || store === null) {
    throw invalid('store', store, STORE_EXPECTED);
  }
  if ('inbox' in store) return store;
  if (typeof store.none === 'string' && store.none.trim() !== '') return undefined;
  throw invalid('store', store, STORE_EXPECTED);
}

const STORE_EXPECTED = "a store, or { none: 'why effects need none' }";

/** A text would be taken for a list of its characters. */
function names(value: readonly string[]): readonly string[] {
  const isName = (name: unknown): boolean => typeof name === 'string' && name.trim() !== '';
  if (Array.isArray(value) && value.every(isName)) return value;
  throw invalid('destinations', value, 'a list of names');
}

function callable<F extends (...given: never[]) => unknown>(
  option: string,
  value: F | undefined,
): F | undefined {
  if (value === undefined || typeof value === 'function') return value;
  throw invalid(option, value, 'a function');
}

function clockOf(value: Clock): Clock {
  if (typeof value?.now === 'function' && typeof value.after === 'function') return value;
  throw invalid('clock', value, 'a clock with now() and after()');
}

function duration(option: string, value: Duration | undefined, fallbackMs: number): number {
  const ms = value === undefined ? fallbackMs : parseDuration(value, `createBus.${option}`);
  if (ms > 0) return ms;
  throw invalid(option, value, 'more than 0 ms');
}

function count(option: string, value: number | undefined, fallback: number): number {
  const given = value ?? fallback;
  if (Number.isInteger(given) && given >= 1 && given <= 100_000) return given;
  throw invalid(option, value, 'an integer from 1 to 100 000');
}

const invalid = (option: string, value: unknown, expected: string): Error =>
  configInvalid({ option: `createBus.${option}`, value, expected });
