import { event } from '@ackord/core';
import { z } from 'zod';

/** What the handler of a message does; `fails`: in this many attempts, counted by the library. */
export const KINDS = [
  'ok',
  'slow',
  'publish',
  'transient',
  'unknown',
  'permanent',
  'reject',
  'hang',
  'pair',
] as const;
export type Kind = (typeof KINDS)[number];

export const OrderCreated = event('order.created', {
  version: 1,
  destination: 'orders',
  data: z.object({ kind: z.enum(KINDS), fails: z.int() }),
});

/** What handlers publish from their own outbox. */
export const OrderHandled = event('order.handled', {
  version: 1,
  destination: 'results',
  data: z.object({ of: z.string() }),
});

/** `reserve` may reorder, `totals` keeps the latest version of an aggregate, `results` reads the answers. */
export const CONSUMERS = ['reserve', 'totals', 'results'] as const;
export type ConsumerName = (typeof CONSUMERS)[number];
export const SUBSCRIBERS = { orders: ['reserve', 'totals'], results: ['results'] } as const;

export const RETRY = {
  delays: ['1s', '5s'],
  maxAttempts: 4,
  jitter: 0.2,
  unknown: { maxAttempts: 2 },
} as const;
const DELAYS_MS = [1_000, 5_000] as const;

export const HANDLER_TIMEOUT_MS = 5_000;
export const PUBLISH_TIMEOUT_MS = 3_000;

/** Least time from the failure of an attempt to the next run. */
export function delayAfterMs(attempt: number): number {
  return DELAYS_MS[Math.min(attempt, DELAYS_MS.length) - 1] ?? 0;
}

export function handledId(consumer: string, id: string): string {
  return `${consumer}:${id}`;
}

/** A message that the schedule made. */
export interface Made {
  readonly id: string;
  readonly kind: Kind;
  readonly fails: number;
  readonly key: string;
  readonly version: number;
  readonly body: 'envelope' | 'junk';
}

/** Bytes that no codec reads; they name themselves, since a log shows no native id. */
export function junkBody(id: string): Uint8Array {
  return new TextEncoder().encode(`{${id}`);
}

/** Whose bytes these are, whatever the transport says. */
export function idOfBody(body: Uint8Array): string {
  const text = new TextDecoder().decode(body);
  if (text.startsWith('{junk')) return text.slice(1);
  return (JSON.parse(text) as { readonly id: string }).id;
}

export function draftOf({ id, kind, fails, key, version }: Made): ReturnType<typeof OrderCreated> {
  return OrderCreated(
    { kind, fails },
    { id, occurredAt: '2026-01-01T00:00:00Z', aggregate: { type: 'order', id: key, version } },
  );
}
