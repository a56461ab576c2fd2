import { event } from '@ackord/core';
import { z } from 'zod';

/** Readable in every log, and nothing that a database or a broker refuses. */
const Name = z.string().regex(/^[\p{L}\p{N}][\p{L}\p{N}._:-]{0,99}$/u, {
  error: 'must be 1 to 100 letters, digits, dots, colons, dashes or underscores',
});

export const Order = z.object({
  orderId: Name,
  sku: Name,
  count: z.int().positive().max(1_000_000),
});
export type Order = z.infer<typeof Order>;

/** Version 1 had no count: an order was for one piece. */
export const OrderCreated = event('order.created', {
  version: 2,
  destination: 'orders',
  data: Order,
  upcast: { 1: (old) => ({ count: 1, ...(old as object) }) },
});

export const ReservationRejected = event('inventory.reservation_rejected', {
  version: 1,
  destination: 'inventory',
  data: Order.omit({ count: true }),
});
