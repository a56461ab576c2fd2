import { type Bus, createBus, on } from '@ackord/core';
import type { SqlTx } from '@ackord/core/store';
import { postgres, type SqlPool } from '@ackord/postgres';
import { type Order, OrderCreated, ReservationRejected } from './contracts.ts';
import { RETRY, type ServiceOptions } from './service.ts';
import { inTransaction } from './transaction.ts';

/** Hears of rejected reservations. Its bus also runs the relay, which sends what `placeOrder` wrote. */
export function orderService({ pool, retry = RETRY, ...options }: ServiceOptions): Bus<SqlTx> {
  const bus = createBus({ producer: 'orders', store: postgres({ pool }), ...options });

  bus.consume('orders.reject', { retry }, [
    on(ReservationRejected, async ({ data: { orderId, sku } }, { tx }) => {
      await tx.query(`update orders set status = 'rejected' where id = $1`, [orderId]);
      await tx.query('insert into rejections values ($1, $2)', [orderId, sku]);
    }),
  ]);

  return bus;
}

/**
 * Writes the order and its event in one transaction: both are stored, or neither. Safe to repeat:
 * false says that the order was there already, with its event.
 */
export function placeOrder(pool: SqlPool, bus: Bus<SqlTx>, order: Order): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const { rowCount } = await tx.query(
      'insert into orders (id, sku, count) values ($1, $2, $3) on conflict (id) do nothing',
      [order.orderId, order.sku, order.count],
    );
    if (rowCount === 0) return false;
    const aggregate = { type: 'order', id: order.orderId, version: 'next' } as const;
    await bus.outbox(tx).add(OrderCreated(order, { id: messageIdOf(order), aggregate }));
    return true;
  });
}

/** An order is created once, so that its id names the fact. */
export function messageIdOf({ orderId }: Pick<Order, 'orderId'>): string {
  return `order.created/${orderId}`;
}
