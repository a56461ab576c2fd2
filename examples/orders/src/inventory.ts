import { type Bus, createBus, on, permanent } from '@ackord/core';
import type { SqlTx } from '@ackord/core/store';
import { postgres } from '@ackord/postgres';
import { OrderCreated, ReservationRejected } from './contracts.ts';
import { RETRY, type ServiceOptions } from './service.ts';

/** Reserves stock, or says that there is not enough: one transaction with the Inbox row, whatever comes twice. */
export function inventory({ pool, retry = RETRY, ...options }: ServiceOptions): Bus<SqlTx> {
  const bus = createBus({ producer: 'inventory', store: postgres({ pool }), ...options });

  bus.consume('inventory.reserve', { retry }, [
    on(OrderCreated, async ({ data: { orderId, sku, count } }, { tx, outbox }) => {
      const { rowCount } = await tx.query(
        'update stock set reserved = reserved + $1 where sku = $2 and available - reserved >= $1',
        [count, sku],
      );
      if (rowCount === 0) {
        if (!(await isKnown(tx, sku))) throw permanent(`Nothing in stock is called "${sku}".`);
        return outbox.add(ReservationRejected({ orderId, sku }));
      }
      await tx.query('insert into reservations values ($1, $2, $3)', [orderId, sku, count]);
    }),
  ]);

  return bus;
}

async function isKnown(tx: SqlTx, sku: string): Promise<boolean> {
  return (await tx.query('select 1 from stock where sku = $1', [sku])).rowCount === 1;
}
