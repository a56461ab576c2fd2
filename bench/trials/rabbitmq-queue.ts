import amqplib from 'amqplib';
import { type WireMessage, wireMessage } from '../messages.ts';
import { Tally } from '../meter.ts';
import { rabbitmq as raw } from '../raw-loops.mjs';
import type { TrialOrder } from './trial.ts';

/** The durability that both contestants use. */
export async function declareQuorumQueue(url: string, queue: string): Promise<void> {
  const connection = await amqplib.connect(url);
  const channel = await connection.createChannel();
  await channel.assertQueue(queue, {
    durable: true,
    arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': -1 },
  });
  await connection.close();
}

export async function fill(url: string, queue: string, count: number): Promise<void> {
  const publisher = await raw.publisher(amqplib, url, queue);
  await publisher.publishAll(messages(0, count));
  await publisher.close();
}

export function messages(from: number, to: number): WireMessage[] {
  return Array.from({ length: to - from }, (_, at) => wireMessage(from + at));
}

/** Takes everything out of a queue and counts its ids. */
export async function drain(url: string, queue: string, expected: number): Promise<Tally> {
  const tally = new Tally(expected);
  const connection = await amqplib.connect(url);
  const channel = await connection.createChannel();
  const { messageCount } = await channel.checkQueue(queue);
  const { promise, resolve } = Promise.withResolvers<void>();
  if (messageCount === 0) resolve();
  await channel.prefetch(1_000);
  await channel.consume(queue, (delivery) => {
    if (delivery === null) return;
    tally.add(String((JSON.parse(delivery.content.toString()) as { id: unknown }).id));
    if (tally.arrived % 500 === 0 || tally.arrived === messageCount) channel.ack(delivery, true);
    if (tally.arrived === messageCount) resolve();
  });
  await promise;
  await channel.close();
  await connection.close();
  return tally;
}

/** Queues and exchanges whose names begin with the trial's. */
export async function cleanUp(
  order: TrialOrder,
  queues: readonly string[],
  exchanges: readonly string[],
): Promise<void> {
  const connection = await amqplib.connect(order.brokerUrl);
  const channel = await connection.createChannel();
  for (const queue of queues) await channel.deleteQueue(queue);
  for (const exchange of exchanges) await channel.deleteExchange(exchange);
  await connection.close();
}
