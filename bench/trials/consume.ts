import { createBus, on } from '@ackord/core';
import { rabbitmq } from '@ackord/rabbitmq';
import amqplib from 'amqplib';
import { checkOrder, orderCreated, PRODUCER, type WireMessage } from '../messages.ts';
import { Course, type Figures } from '../meter.ts';
import { rabbitmq as raw } from '../raw-loops.mjs';
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

/** Three times this many deliveries are unsettled at most, which is about the raw loop's prefetch of 100. */
const CONCURRENCY = 33;

/** A handler that does nothing but the schema check; no Inbox. The queue is full before it starts. */
export function consume(order: TrialOrder): Promise<Figures> {
  return order.contestant === 'raw' ? consumeRaw(order) : consumeOurs(order);
}

async function consumeRaw(order: TrialOrder): Promise<Figures> {
  const { brokerUrl, name, warmup, measured } = order;
  await declareQuorumQueue(brokerUrl, name);
  await fill(brokerUrl, name, warmup + measured);
  const course = new Course(order);
  const handle = async (message: WireMessage): Promise<void> => {
    checkOrder(message.data);
    course.handled(message.id);
  };
  const consumer = await raw.consumer(amqplib, brokerUrl, name, handle);
  const cost = await course.finished(ARRIVAL_MS);
  await consumer.close();
  await cleanUp(order, [name], []);
  return { messages: measured, ...cost, ...course.tally.result() };
}

async function consumeOurs(order: TrialOrder): Promise<Figures> {
  const { brokerUrl, warmup, measured } = order;
  await declareByBus(order);
  await fill(brokerUrl, queueOf(order), warmup + measured);
  const course = new Course(order);
  const bus = createBus({
    producer: PRODUCER,
    broker: rabbitmq(driverOptions(order)),
    store: { none: 'measures without an Inbox' },
  });
  const options = { retry: retryOptions(), concurrency: CONCURRENCY };
  bus.consume(CONSUMER, options, [on(orderCreated, async ({ id }) => course.handled(id))]);
  await bus.start();
  const cost = await course.finished(ARRIVAL_MS);
  await bus.close();
  await cleanUpBus(order);
  return { messages: measured, ...cost, ...course.tally.result() };
}
