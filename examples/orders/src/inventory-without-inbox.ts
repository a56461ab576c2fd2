import { type Bus, createBus, on, permanent } from '@ackord/core';
import type { SqlTx } from '@ackord/core/store';
import { postgres } from '@ackord/postgres';
import { OrderCreated, ReservationRejected } from './contracts.ts';
import { RETRY, type ServiceOptions } from './service.ts';
import { inTransaction } from './transaction.ts';

/**
 * How it goes wrong: the same effect in a transaction of the handler's own, so that a redelivery
 * does it again. Not for use; `npm run demo -- --without-inbox` counts the damage.
 */
export function inventoryWithoutInbox({
  pool,
  retry = RETRY,
  ...options
}: ServiceOptions): Bus<SqlTx> {
  const bus = createBus({ producer: 'inventory', store: postgres({ pool }), ...options });
  const inbox = { none: 'to show what happens then' };

  bus.consume('inventory.reserve', { retry, inbox }, [
    on(OrderCreated, ({ data: { orderId, sku, count } }) =>
      inTransaction(pool, async (tx) => {
        const { rowCount } = await tx.query(
          'update stock set reserved = reserved + $1 where sku = $2 and available - reserved >= $1',
          [count, sku],
        );
        if (rowCount === 0) {
          const known = await tx.query('select 1 from stock where sku = $1', [sku]);
          if (known.rowCount === 0) throw permanent(`Nothing in stock is called "${sku}".`);
          return bus.outbox(tx).add(ReservationRejected({ orderId, sku }));
        }
        await tx.query('insert into reservations values ($1, $2, $3)', [orderId, sku, count]);
      }),
    ),
  ]);

  return bus;
}
