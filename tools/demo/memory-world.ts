import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus, RetryOptions } from '@ackord/core';
import type { SqlTx } from '@ackord/core/store';
import { MemoryBroker } from '@ackord/memory';
import { broker } from '../../examples/orders/src/broker-memory.ts';
import { openPglite } from '../../examples/orders/src/connect.ts';
import { OrderCreated } from '../../examples/orders/src/contracts.ts';
import { inventory } from '../../examples/orders/src/inventory.ts';
import { inventoryWithoutInbox } from '../../examples/orders/src/inventory-without-inbox.ts';
import { orderService, placeOrder } from '../../examples/orders/src/order-service.ts';
import { createSchema } from '../../examples/orders/src/schema.ts';
import { type FlakyPool, flakyPool } from './flaky-pool.ts';
import type { Observation } from './observations.ts';
import { seenIn, troubleMaker } from './trouble.ts';
import { untilPlaced, type World, type WorldOptions } from './world.ts';

const DELAYS = ['300ms', '1s', '2s'] as const;
const RETRY: RetryOptions = { delays: DELAYS, maxAge: '15m' };
const CONSUMERS = ['inventory.reserve', 'orders.reject'] as const;

/** Well within the retries' budget. */
const OUTAGE_MS = 1_000;

/** Everything in this process: nothing to install, and a kill is a bus that is abandoned. */
export async function memoryWorld(options: WorldOptions): Promise<World> {
  const server = new MemoryBroker();
  const database = await openPglite();
  await createSchema(database);
  const pool = flakyPool(database);
  const orders = orderService({ pool, broker: broker({ broker: server }), retry: RETRY });
  const buses = [orders];
  const buckets = CONSUMERS.map((name) => DELAYS.map((delay) => `${name}.retry.${delay}`));

  const world: World = {
    about: 'a broker in memory (memory/queue) and PGlite, all in this process',
    howKilled: 'its bus was abandoned at that step, since a process cannot kill a part of itself',
    place: (order) => untilPlaced(() => placeOrder(pool, orders, order)),
    inject: async ({ id, body }) =>
      server.inject(OrderCreated.destination, {
        body: new TextEncoder().encode(body),
        nativeId: id,
        type: OrderCreated.type,
      }),
    startInventory: async (killAtCommit) => {
      const bus = inventoryIn({ pool, server, killAtCommit }, options);
      buses.push(bus);
      await bus.start();
    },
    outage: async () => {
      pool.down = true;
      await sleep(OUTAGE_MS);
      pool.down = false;
      return `the database was away for ${OUTAGE_MS / 1000} s: connections reset and refused`;
    },
    sql: async (text) => (await database.query(text)).rows,
    backlog: async () =>
      CONSUMERS.flatMap((name) => [name, `${name}.retry`])
        .concat(...buckets)
        .reduce((sum, queue) => sum + server.depth(queue), 0),
    parkedCount: async () => server.depth('inventory.reserve.parking'),
    parked: async () =>
      server
        .dump('inventory.reserve.parking')
        .map(({ headers, body }) => ({ headers, body: new TextDecoder().decode(body) })),
    retryCopies: async () =>
      (buckets[0] ?? []).reduce((sum, bucket) => sum + server.sent(bucket), 0),
    quietMs: 500,
    close: async () => {
      await Promise.all(buses.map((bus) => bus.close({ timeout: '200ms' })));
    },
  };
  await orders.start();
  return world;
}

interface Place {
  readonly pool: FlakyPool;
  readonly server: MemoryBroker;
  readonly killAtCommit: number | undefined;
}

/** A consumer on a driver of its own, which is to the broker what a process is. */
function inventoryIn({ pool, server, killAtCommit }: Place, options: WorldOptions): Bus<SqlTx> {
  const { plan, observations, killed } = options;
  const driver = broker({ broker: server });
  const die = (messageId: string): void => {
    driver.kill();
    killed(messageId);
  };
  const see = (seen: Observation): void => observations.add(seen);
  const intercept = troubleMaker({ plan, killAtCommit, die, see });
  const service = plan.withoutInbox ? inventoryWithoutInbox : inventory;
  // The services share a database here, so that the relay of one sends the rows of both.
  const bus = service({ pool, broker: driver, retry: RETRY, intercept, relay: false });
  bus.on((event) => {
    const seen = seenIn(event);
    if (seen) see(seen);
  });
  return bus;
}
