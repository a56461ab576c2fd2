import { type Contract, event } from '@ackord/core';
import { z } from 'zod';

export interface OrderData {
  readonly orderId: string;
  readonly sku: string;
  readonly count: number;
  readonly note: string;
}

/** The envelope as it stands on the wire; both contestants send and read the same bytes. */
export interface WireMessage {
  readonly id: string;
  readonly type: string;
  readonly schema_version: number;
  readonly occurred_at: string;
  readonly producer: string;
  readonly correlation_id: string;
  readonly aggregate: { readonly type: string; readonly id: string; readonly version: number };
  readonly data: OrderData;
}

/** Bytes of one message. */
const MESSAGE_BYTES = 1_024;
/** Rows that effects are spread over, so that row locks stay rare. */
export const SKUS = 1_000;
export const DESTINATION = 'bench.orders';
export const RESERVED = 'bench.reserved';
export const PRODUCER = 'bench';

const orderSchema: z.ZodType<OrderData, OrderData> = z.object({
  orderId: z.string().min(1),
  sku: z.string().min(1),
  count: z.int().positive(),
  note: z.string(),
});

/** The schema check that both handlers make. Throws on wrong data. */
export const checkOrder = (data: unknown): OrderData => orderSchema.parse(data);

export const orderCreated: Contract<OrderData, OrderData, OrderData> = event('order.created', {
  version: 1,
  destination: DESTINATION,
  data: orderSchema,
});

export const stockReserved: Contract<OrderData, OrderData, OrderData> = event('stock.reserved', {
  version: 1,
  destination: RESERVED,
  data: orderSchema,
});

export const skuOf = (index: number): string => `sku-${String(index % SKUS).padStart(4, '0')}`;

/** Id of message `index` of a trial; `indexOf` reads it back. */
export const idOf = (index: number): string => `0192b3c4-0000-7000-8000-${digits(index)}`;

/** -1 for an id that no trial gave out. */
export function indexOf(id: string): number {
  return id.startsWith('0192b3c4-0000-7000-8000-') ? Number(id.slice(24)) : -1;
}

export function wireMessage(index: number): WireMessage {
  const bare = messageWith(index, '');
  return messageWith(index, 'n'.repeat(MESSAGE_BYTES - JSON.stringify(bare).length));
}

/** What a publisher of the library holds: the same message before it is an envelope. */
export function draftOf(message: WireMessage): ReturnType<typeof orderCreated> {
  return orderCreated(message.data, {
    id: message.id,
    occurredAt: message.occurred_at,
    correlationId: message.correlation_id,
    aggregate: message.aggregate,
  });
}

function messageWith(index: number, note: string): WireMessage {
  const orderId = `order-${digits(index)}`;
  return {
    id: idOf(index),
    type: 'order.created',
    schema_version: 1,
    occurred_at: '2026-01-01T00:00:00.000Z',
    producer: PRODUCER,
    correlation_id: idOf(index),
    aggregate: { type: 'order', id: orderId, version: 1 },
    data: { orderId, sku: skuOf(index), count: 1, note },
  };
}

const digits = (index: number): string => String(index).padStart(12, '0');
