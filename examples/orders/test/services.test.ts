import type { Bus } from '@ackord/core';
import type { SqlTx } from '@ackord/core/store';
import { MemoryBroker } from '@ackord/memory';
import type { PglitePool } from '@ackord/postgres';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { broker } from '../src/broker-memory.ts';
import { openPglite } from '../src/connect.ts';
import { inventory } from '../src/inventory.ts';
import { orderService, placeOrder } from '../src/order-service.ts';
import { createSchema } from '../src/schema.ts';

let pool: PglitePool;
let orders: Bus<SqlTx>;
let stock: Bus<SqlTx>;

beforeAll(async () => {
  pool = await openPglite();
  await createSchema(pool);
  const server = new MemoryBroker();
  stock = inventory({ pool, broker: broker({ broker: server }), relay: false });
  orders = orderService({ pool, broker: broker({ broker: server }) });
  await stock.start();
  await orders.start();
}, 60_000);
afterAll(async () => {
  await Promise.all([stock.close(), orders.close()]);
});

const rows = async (text: string): Promise<readonly unknown[]> => (await pool.query(text)).rows;
const eventually = (check: () => Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 20_000, interval: 50 });

it('reserves the stock of an order', { timeout: 30_000 }, async () => {
  await placeOrder(pool, orders, { orderId: 'a', sku: 'vase-2', count: 5 });
  await eventually(async () => {
    expect(await rows(`select * from reservations where order_id = 'a'`)).toEqual([
      { order_id: 'a', sku: 'vase-2', count: 5 },
    ]);
  });
  expect(await rows(`select reserved from stock where sku = 'vase-2'`)).toEqual([{ reserved: 5 }]);
});

it('rejects an order for more than there is', { timeout: 30_000 }, async () => {
  await placeOrder(pool, orders, { orderId: 'b', sku: 'vase-2', count: 5_000 });
  await eventually(async () => {
    expect(await rows(`select status from orders where id = 'b'`)).toEqual([
      { status: 'rejected' },
    ]);
  });
  expect(await rows(`select * from reservations where order_id = 'b'`)).toEqual([]);
});

it('stores an order that is placed twice once, with one event', { timeout: 30_000 }, async () => {
  const order = { orderId: 'c', sku: 'pen-1', count: 1 };
  expect(await placeOrder(pool, orders, order)).toBe(true);
  expect(await placeOrder(pool, orders, order)).toBe(false);
  await eventually(async () => {
    expect(await rows(`select order_id from reservations where order_id = 'c'`)).toEqual([
      { order_id: 'c' },
    ]);
    expect(await rows('select * from ackord.outbox')).toEqual([]);
  });
});

it('stores neither order nor event when one of them is refused', { timeout: 30_000 }, async () => {
  await expect(
    placeOrder(pool, orders, { orderId: 'd', sku: 'pen-1', count: 0 }),
  ).rejects.toMatchObject({ code: 'MSG_CONTRACT_INVALID_DATA' });
  expect(await rows(`select * from orders where id = 'd'`)).toEqual([]);
});
