import { createBus, on } from '@ackord/core';
import { migrate, postgres } from '@ackord/postgres';
import { rabbitmq } from '@ackord/rabbitmq';
import amqplib from 'amqplib';
import { Pool } from 'pg';
import {
  checkOrder,
  orderCreated,
  PRODUCER,
  SKUS,
  skuOf,
  stockReserved,
  type WireMessage,
} from '../messages.ts';
import { Course, type Figures } from '../meter.ts';
import { rabbitmq as raw, inbox as rawInbox } from '../raw-loops.mjs';
import {
  CONSUMER,
  cleanUpBus,
  declareByBus,
  driverOptions,
  queueOf,
  retryOptions,
} from './rabbitmq-bus.ts';
import { cleanUp, declareQuorumQueue, fill } from './rabbitmq-queue.ts';
import { ARRIVAL_MS, type TrialOrder } from './trial.ts';

/** Connections of the pool, and so transactions at once, the same for both. */
const CONNECTIONS = 16;

const STOCK = `create table stock (sku text primary key, available bigint not null, reserved bigint not null);
insert into stock select 'sku-' || lpad(n::text, 4, '0'), 1000000000, 0 from generate_series(0, ${SKUS - 1}) n`;

const RAW_TABLES = `create table processed_messages (consumer_name text not null, message_id text not null,
  processed_at timestamptz not null default now(), primary key (consumer_name, message_id));
create table inventory_outbox (id text primary key, event_type text not null, payload jsonb not null,
  created_at timestamptz not null default now())`;

const RESERVE =
  'update stock set reserved = reserved + $1 where sku = $2 and available - reserved >= $1';

/** Claim, effect, outbox row and commit for each message, with the schema check before them. */
export async function inbox(order: TrialOrder): Promise<Figures> {
  const pool = new Pool({ connectionString: order.databaseUrl, max: CONNECTIONS });
  try {
    await pool.query(STOCK);
    return order.contestant === 'raw' ? await inboxRaw(order, pool) : await inboxOurs(order, pool);
  } finally {
    await pool.end();
  }
}

async function inboxRaw(order: TrialOrder, pool: Pool): Promise<Figures> {
  const { brokerUrl, name, warmup, measured } = order;
  await pool.query(RAW_TABLES);
  await declareQuorumQueue(brokerUrl, name);
  await fill(brokerUrl, name, warmup + measured);
  const course = new Course(order);
  const work = rawInbox.handler(pool, CONSUMER);
  const handle = async (message: WireMessage): Promise<void> => {
    checkOrder(message.data);
    await work(message);
    course.handled(message.id);
  };
  const consumer = await raw.consumer(amqplib, brokerUrl, name, handle);
  const cost = await course.finished(ARRIVAL_MS);
  await consumer.close();
  await cleanUp(order, [name], []);
  const effects = await count(pool, warmup + measured, 'processed_messages', 'inventory_outbox');
  return { messages: measured, ...cost, ...worse(course.tally.result(), effects) };
}

async function inboxOurs(order: TrialOrder, pool: Pool): Promise<Figures> {
  const { brokerUrl, warmup, measured } = order;
  await migrate(pool);
  await declareByBus(order);
  await fill(brokerUrl, queueOf(order), warmup + measured);
  const course = new Course(order);
  const bus = createBus({
    producer: PRODUCER,
    broker: rabbitmq(driverOptions(order)),
    // Prepared, as the statements of the raw loop are.
    store: postgres({ pool, prepare: true }),
    relay: false,
    destinations: [stockReserved.destination],
  });
  // Emitted after COMMIT, which is where the raw loop counts, too.
  bus.on((event) => {
    if (event.event === 'message.applied') course.handled(event.messageId);
  });
  const options = { retry: retryOptions(), concurrency: CONNECTIONS };
  bus.consume(CONSUMER, options, [
    on(orderCreated, async ({ id, data }, { tx, outbox }) => {
      await tx.query(RESERVE, [data.count, data.sku]);
      await outbox.add(stockReserved(data, { id: `${id}:reserved` }));
    }),
  ]);
  await bus.start();
  const cost = await course.finished(ARRIVAL_MS);
  await bus.close();
  await cleanUpBus(order);
  const tables = ['ackord.processed_messages', 'ackord.outbox'] as const;
  const effects = await count(pool, warmup + measured, ...tables);
  return { messages: measured, ...cost, ...worse(course.tally.result(), effects) };
}

type Counts = Pick<Figures, 'lost' | 'doubled'>;

/** What the database holds decides: claims, effects per article and outbox rows. */
async function count(pool: Pool, total: number, claims: string, outbox: string): Promise<Counts> {
  const rows = async (text: string): Promise<Record<string, unknown>[]> =>
    (await pool.query<Record<string, unknown>>(text)).rows;
  const [sums] = await rows(`select (select count(*) from ${claims})::int as claims,
    (select count(*) from ${outbox})::int as rows`);
  const stock = await rows('select sku, reserved::int as reserved from stock');
  const reserved = new Map(stock.map((row) => [row['sku'], Number(row['reserved'])]));
  const short = [Number(sums?.['claims']) - total, Number(sums?.['rows']) - total];
  for (let at = 0; at < SKUS; at += 1) {
    const expected = Math.floor(total / SKUS) + (at < total % SKUS ? 1 : 0);
    short.push((reserved.get(skuOf(at)) ?? 0) - expected);
  }
  const sum = (sign: 1 | -1): number =>
    short.reduce((all, difference) => all + Math.max(0, difference * sign), 0);
  return { lost: sum(-1), doubled: sum(1) };
}

const worse = (one: Counts, other: Counts): Counts => ({
  lost: Math.max(one.lost, other.lost),
  doubled: Math.max(one.doubled, other.doubled),
});
