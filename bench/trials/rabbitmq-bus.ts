import { type Bus, createBus, type Handler } from '@ackord/core';
import { type RabbitmqOptions, rabbitmq } from '@ackord/rabbitmq';
import { DESTINATION, orderCreated, PRODUCER, RESERVED } from '../messages.ts';
import { cleanUp } from './rabbitmq-queue.ts';
import type { TrialOrder } from './trial.ts';

export const CONSUMER = 'bench.consumer';
/** Physical names of what a bus of a trial declares. */
export const queueOf = (order: TrialOrder): string => `${order.name}.${CONSUMER}`;

const RETRY = { delays: ['1s'] } as const;

export function driverOptions(order: TrialOrder): RabbitmqOptions {
  return { url: order.brokerUrl, prefix: `${order.name}.` };
}

export const retryOptions = (): { readonly delays: readonly ['1s'] } => RETRY;

/** Declares queue and exchanges by a bus that is closed again, so that messages can wait there. */
export async function declareByBus(order: TrialOrder): Promise<void> {
  const bus: Bus<unknown> = createBus({
    producer: PRODUCER,
    broker: rabbitmq(driverOptions(order)),
    store: { none: 'only declares' },
    destinations: [DESTINATION, RESERVED],
  });
  const none: Handler = { contract: orderCreated, run: () => undefined };
  bus.consume(CONSUMER, { retry: RETRY, inbox: { none: 'only declares' } }, [none]);
  await bus.start();
  await bus.close();
}

export async function cleanUpBus(order: TrialOrder): Promise<void> {
  const queue = queueOf(order);
  const queues = ['', '.retry', '.retry.1s', '.parking'].map((suffix) => `${queue}${suffix}`);
  const exchanges = [DESTINATION, RESERVED].map((name) => `${order.name}.${name}`);
  await cleanUp(order, queues, exchanges);
}
