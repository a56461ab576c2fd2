import { event } from '@ackord/core';
import { z } from 'zod';

/** Version 1 had no count: an order was for one piece. */
export const OrderCreated = event('order.created', {
  version: 2,
  destination: 'orders',
  data: z.object({ orderId: z.string(), sku: z.string(), count: z.int().positive() }),
  upcast: { 1: (old) => ({ count: 1, ...(old as object) }) },
});

export const ReservationRejected = event('inventory.reservation_rejected', {
  version: 1,
  destination: 'inventory',
  data: z.object({ orderId: z.string(), sku: z.string() }),
});
