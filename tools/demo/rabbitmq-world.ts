import { setTimeout as sleep } from 'node:timers/promises';
import type { RetryOptions } from '@ackord/core';
import { openPostgres } from '../../examples/orders/src/connect.ts';
import { OrderCreated } from '../../examples/orders/src/contracts.ts';
import { createSchema } from '../../examples/orders/src/schema.ts';
import { type DemoBrokers, demoBrokers } from './demo-brokers.ts';
import { RabbitmqQueues } from './rabbitmq-queues.ts';
import { Services } from './services.ts';
import type { World, WorldOptions } from './world.ts';

/** Long enough to outlast a database that is killed and recovers. */
const RETRY: RetryOptions = { delays: ['1s', '2s', '5s', '10s'], maxAge: '15m' };

const OUTAGE_MS = 2_000;
/** The server counts deliveries in the hands of consumers every 5 s. */
const QUIET_MS = 5_500;

/** Real processes, a real broker and a real database. */
export async function rabbitmqWorld(options: WorldOptions): Promise<World> {
  const brokers = await demoBrokers(options.note, options.signal);
  try {
    return await openWorld(brokers, options);
  } catch (error) {
    await brokers.remove();
    throw error;
  }
}

async function openWorld(brokers: DemoBrokers, options: WorldOptions): Promise<World> {
  const { rabbitmq, postgres } = brokers;
  const name = `ackord_demo_${process.pid}_${Date.now().toString(36)}`;
  const prefix = `${name}.`;
  const databaseUrl = await postgres.createDatabase(name);
  const pool = openPostgres(databaseUrl);
  // A connection that idles while the database is killed; the next query tells.
  pool.on('error', () => {});
  await createSchema(pool);
  const queues = await RabbitmqQueues.open(rabbitmq, prefix);
  const services = new Services(
    { rabbitmqUrl: rabbitmq.url, databaseUrl, prefix, retry: RETRY, plan: options.plan },
    options,
  );
  const close = async (): Promise<void> => {
    try {
      await services.close();
      await pool.end();
      // In containers of this run all that goes with them.
      if (brokers.shared) await queues.remove();
      await queues.close();
      if (!postgres.owned) await postgres.dropDatabase(name);
    } finally {
      await brokers.remove();
    }
  };
  try {
    await services.startOrders();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    about: 'RabbitMQ (rabbitmq/ttl-buckets) and PostgreSQL, services as processes',
    howKilled: 'SIGKILL, seen in its exit status',
    place: (order) => services.place(order),
    inject: (message) => queues.publish(OrderCreated.destination, OrderCreated.type, message),
    startInventory: (killAtCommit) => services.startInventory(killAtCommit),
    outage: postgres.owned ? () => outageOf(postgres) : undefined,
    sql: async (text) => (await pool.query(text)).rows,
    backlog: () => queues.count('others'),
    parkedCount: () => queues.count('parking'),
    parked: () => queues.parked('inventory.reserve'),
    retryCopies: () => queues.retryCopies('inventory.reserve'),
    quietMs: QUIET_MS,
    close,
  };
}

async function outageOf(postgres: DemoBrokers['postgres']): Promise<string> {
  const startedAtMs = Date.now();
  await postgres.kill();
  await sleep(OUTAGE_MS);
  await postgres.start();
  const tookS = ((Date.now() - startedAtMs) / 1000).toFixed(1);
  return `PostgreSQL was killed (SIGKILL) and back after ${tookS} s`;
}
