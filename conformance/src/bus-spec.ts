import {
  type Bus,
  type ConsumerOptions,
  createBus,
  type Handler,
  type Interceptor,
  type RetryOptions,
} from '@ackord/core';
import type { Driver } from '@ackord/core/driver';
import type { SqlTx } from '@ackord/core/store';
import { postgres, type SqlPool } from '@ackord/postgres';
import { type TestHandlerOptions, testHandlers } from './test-handler.ts';

/** A bus of a case. JSON but for `handlers`, so that a worker process can be told. */
export interface BusSpec {
  /** Default: one, `reserve`. None: the bus only publishes or relays. */
  readonly consumers?: readonly ConsumerSpec[];
  /** Sends outbox rows. Default false. */
  readonly relay?: boolean;
  /** Default `suite`. */
  readonly producer?: string;
  readonly topology?: 'create' | 'verify' | 'assume';
  /** Default 10 s. */
  readonly publishTimeout?: string;
  readonly maxInFlight?: number;
  /** Longest wait for the first connection. Default 20 s. */
  readonly connectTimeout?: string;
  /** Lease of the relay's slots. Default 2 s. */
  readonly relayLease?: string;
}

export interface ConsumerSpec {
  /** The namespace comes before it. Default `reserve`. */
  readonly name?: string;
  /** Default `orders`. */
  readonly reads?: 'orders' | 'inventory';
  /** Default: the retry delays of the profile, 4 attempts. */
  readonly options?: Omit<ConsumerOptions, 'retry'> & { readonly retry?: Partial<RetryOptions> };
  /** False: the handler writes nothing; for `inbox: { none }`. Default true. */
  readonly effects?: boolean;
  /** Instead of the test handler. Only for buses of the suite's own process. */
  readonly handlers?: readonly Handler<SqlTx>[];
}

export interface BusParts extends Omit<TestHandlerOptions, 'reads' | 'effects'> {
  readonly driver: Driver;
  /** Absent: no store. */
  readonly pool: SqlPool | undefined;
  readonly delaysMs: readonly number[];
  readonly intercept: Interceptor;
}

/** Back-off of reconnects and of copies that fail, short enough for tests. */
const BACKOFF = { backoff: '50ms', backoffCap: '1s' } as const;

/** Not started yet. */
export function buildBus(spec: BusSpec, parts: BusParts): Bus<SqlTx> {
  const { driver, pool, namespace, schema, intercept } = parts;
  const bus = createBus<SqlTx>({
    producer: spec.producer ?? 'suite',
    broker: driver,
    store: pool ? postgres({ pool, schema }) : { none: 'this bus only publishes' },
    destinations: [`${namespace}.orders`],
    topology: spec.topology ?? 'create',
    connect: { ...BACKOFF, timeout: (spec.connectTimeout ?? '20s') as '20s' },
    publish: {
      timeout: (spec.publishTimeout ?? '10s') as '10s',
      maxInFlight: spec.maxInFlight ?? 1_000,
    },
    relay: spec.relay ? { lease: (spec.relayLease ?? '2s') as '2s' } : false,
    intercept,
  });
  for (const consumer of spec.consumers ?? [{}]) {
    const { name = 'reserve', reads = 'orders', effects = true, options = {} } = consumer;
    const retry = { delays: parts.delaysMs, maxAttempts: 4, ...options.retry };
    const handlers = consumer.handlers ?? testHandlers({ ...parts, reads, effects });
    bus.consume(`${namespace}.${name}`, { ...options, retry }, handlers);
  }
  return bus;
}
