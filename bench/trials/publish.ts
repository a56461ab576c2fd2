import { createBus } from '@ackord/core';
import { rabbitmq } from '@ackord/rabbitmq';
import amqplib from 'amqplib';
import { DESTINATION, draftOf, PRODUCER } from '../messages.ts';
import { type Figures, Meter } from '../meter.ts';
import { rabbitmq as raw, windowed } from '../raw-loops.mjs';
import { cleanUpBus, declareByBus, driverOptions, queueOf } from './rabbitmq-bus.ts';
import { cleanUp, declareQuorumQueue, drain, messages } from './rabbitmq-queue.ts';
import type { TrialOrder } from './trial.ts';

/** Confirms in flight, the same for both. */
const WINDOW = 1_000;

/** Confirmed publishing. Messages and drafts are made before the clock starts. */
export function publish(order: TrialOrder): Promise<Figures> {
  return order.contestant === 'raw' ? publishRaw(order) : publishOurs(order);
}

async function publishRaw(order: TrialOrder): Promise<Figures> {
  const { brokerUrl, name, warmup, measured } = order;
  await declareQuorumQueue(brokerUrl, name);
  const publisher = await raw.publisher(amqplib, brokerUrl, name, WINDOW);
  await publisher.publishAll(messages(0, warmup));
  const all = messages(warmup, warmup + measured);
  const meter = new Meter();
  meter.start();
  await publisher.publishAll(all);
  const cost = meter.stop();
  await publisher.close();
  const tally = await drain(brokerUrl, name, warmup + measured);
  await cleanUp(order, [name], []);
  return { messages: measured, ...cost, ...tally.result() };
}

async function publishOurs(order: TrialOrder): Promise<Figures> {
  const { brokerUrl, warmup, measured } = order;
  await declareByBus(order);
  const bus = createBus({
    producer: PRODUCER,
    broker: rabbitmq(driverOptions(order)),
    store: { none: 'publishes only' },
    destinations: [DESTINATION],
    publish: { maxInFlight: WINDOW },
  });
  await bus.start();
  const send = (draft: ReturnType<typeof draftOf>): Promise<void> => bus.publish(draft);
  await windowed(messages(0, warmup).map(draftOf), WINDOW, send);
  const all = messages(warmup, warmup + measured).map(draftOf);
  const meter = new Meter();
  meter.start();
  await windowed(all, WINDOW, send);
  const cost = meter.stop();
  await bus.close();
  const tally = await drain(brokerUrl, queueOf(order), warmup + measured);
  await cleanUpBus(order);
  return { messages: measured, ...cost, ...tally.result() };
}
