import { createBus, type Draft, event, on } from '@ackord/core';
import type { Driver } from '@ackord/core/driver';
import type { SqlTx, Store } from '@ackord/core/store';
import { z } from 'zod';

declare const broker: Driver;
declare const store: Store<SqlTx>;

const OrderCreated = event('order.created', {
  version: 2,
  destination: 'orders',
  data: z.object({ orderId: z.string(), sku: z.string(), count: z.int().positive() }),
});
const ReservationRejected = event('inventory.reservation_rejected', {
  version: 1,
  destination: 'inventory',
  data: z.object({ orderId: z.string(), sku: z.string() }),
});

// The consumer of the specification, in at most 15 lines beside its contract.
const bus = createBus({ producer: 'inventory', broker, store });
const retry = { delays: ['5s', '30s', '5m'], maxAge: '15m' } as const;
bus.consume('inventory.reserve', { retry }, [
  on(OrderCreated, async ({ data }, { tx, outbox }) => {
    const { rowCount } = await tx.query(
      'update stock set reserved = reserved + $1 where sku = $2 and available - reserved >= $1',
      [data.count, data.sku],
    );
    if (rowCount === 0) {
      await outbox.add(ReservationRejected({ orderId: data.orderId, sku: data.sku }));
    }
  }),
]);
await bus.start();

bus.consume('wrong', {}, [
  on(OrderCreated, ({ data }) => {
    // @ts-expect-error a wrong field name is a compile error
    data.quantity;
    data.count.toFixed();
  }),
]);

// @ts-expect-error data must fit the schema's input
OrderCreated({ orderId: 'o', sku: 's' });
const draft: Draft<{ orderId: string; sku: string }> = ReservationRejected({
  orderId: 'o',
  sku: 's',
});
await bus.publish(draft);
// @ts-expect-error unknown option
bus.consume('options', { retries: 3 }, []);
// @ts-expect-error a store is given or its absence explained
createBus({ producer: 'inventory', broker });
