import { createBus, on } from '@ackord/core';
import {
  type Outgoing,
  type QueueReceiver,
  type QueueSession,
  systemClock,
  type Token,
  type Topology,
} from '@ackord/core/driver';
import { memoryQueue } from '@ackord/memory';
import {
  checkOrder,
  DESTINATION,
  draftOf,
  orderCreated,
  PRODUCER,
  type WireMessage,
} from '../messages.ts';
import { Course, type Figures } from '../meter.ts';
import { windowed } from '../raw-loops.mjs';
import { messages } from './rabbitmq-queue.ts';
import { ARRIVAL_MS, type TrialOrder } from './trial.ts';

const CONSUMER = 'bench.consumer';
const WINDOW = 1_000;
const PREFETCH = 100;
/** Messages that the hand-written loop sends in one call; the library sends what one turn brought. */
const BATCH = 100;

/**
 * Publish and consume in one process over the in-memory driver. The hand-written loop calls the
 * same driver, makes and parses the same JSON and checks the same schema on both sides, so that
 * the difference is what core itself takes.
 */
export function core(order: TrialOrder): Promise<Figures> {
  return order.contestant === 'raw' ? coreRaw(order) : coreOurs(order);
}

async function coreRaw(order: TrialOrder): Promise<Figures> {
  const { warmup, measured } = order;
  const driver = memoryQueue();
  const plan = driver.plan(TOPOLOGY);
  const { signal } = new AbortController();
  const session = await driver.open({ plan, signal, clock: systemClock, notice: () => {} });
  if (session.kind !== 'queue') throw new Error('The memory queue opened no queue session.');
  await session.apply(plan.resources, 'create');
  const course = new Course(order);
  const [source] = plan.sources(CONSUMER);
  const target = { at: 'destination', name: DESTINATION, type: 'order.created' } as const;
  const [to] = plan.address(target);
  if (source === undefined || to === undefined) throw new Error('The plan has no places.');
  await session.receive(source, (receiver) => consumeRaw(receiver, course));
  const all = messages(0, warmup + measured);
  const parts = Array.from({ length: Math.ceil(all.length / BATCH) }, (_, at) =>
    all.slice(at * BATCH, (at + 1) * BATCH),
  );
  const sent = windowed(parts, WINDOW / BATCH, (part: WireMessage[]) =>
    send(
      session,
      part.map((message) => outgoing(message, to)),
    ),
  );
  const cost = await course.finished(ARRIVAL_MS);
  await sent;
  await session.close();
  return { messages: measured, ...cost, ...course.tally.result() };
}

async function coreOurs(order: TrialOrder): Promise<Figures> {
  const { warmup, measured } = order;
  const course = new Course(order);
  const bus = createBus({
    producer: PRODUCER,
    broker: memoryQueue(),
    store: { none: 'measures core alone' },
    publish: { maxInFlight: WINDOW },
  });
  const options = { retry: { delays: ['1s'] as const }, concurrency: Math.ceil(PREFETCH / 3) };
  bus.consume(CONSUMER, options, [on(orderCreated, async ({ id }) => course.handled(id))]);
  await bus.start();
  const drafts = messages(0, warmup + measured).map(draftOf);
  const sent = windowed(drafts, WINDOW, (draft: (typeof drafts)[number]) => bus.publish(draft));
  const cost = await course.finished(ARRIVAL_MS);
  await sent;
  await bus.close();
  return { messages: measured, ...cost, ...course.tally.result() };
}

const TOPOLOGY: Topology = {
  destinations: [{ name: DESTINATION, subscribers: [CONSUMER] }],
  consumers: [{ name: CONSUMER, from: [DESTINATION], types: ['order.created'], delaysMs: [] }],
};

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function outgoing(message: WireMessage, to: string): Outgoing {
  checkOrder(message.data);
  return {
    to,
    body: encoder.encode(JSON.stringify(message)),
    mirror: { id: message.id, type: message.type, contentType: 'application/json' },
    headers: {},
    key: message.aggregate.id,
    dedupId: message.id,
  };
}

function send(session: QueueSession, batch: readonly Outgoing[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = batch.length;
    session.send(batch, { signal: new AbortController().signal }, (_, outcome) => {
      left -= 1;
      if (outcome.is !== 'confirmed') reject(new Error(`the driver answered ${outcome.is}`));
      else if (left === 0) resolve();
    });
  });
}

/** Handles at once and settles what one turn brought together. */
function consumeRaw(
  receiver: QueueReceiver,
  course: Course,
): ReturnType<Parameters<QueueSession['receive']>[1]> {
  const { signal } = new AbortController();
  let done: { readonly token: Token; readonly how: { readonly do: 'ack' } }[] = [];
  const settle = (token: Token): void => {
    done.push({ token, how: { do: 'ack' } });
    if (done.length > 1) return;
    setImmediate(() => {
      const all = done;
      done = [];
      void receiver.settle(all, signal);
    });
  };
  const handle = async (message: WireMessage): Promise<void> => {
    checkOrder(message.data);
    course.handled(message.id);
  };
  setImmediate(() => receiver.setWindow(PREFETCH));
  return {
    delivered: (deliveries) => {
      for (const { body, token } of deliveries) {
        const message = JSON.parse(decoder.decode(body)) as WireMessage;
        handle(message).then(
          () => settle(token),
          (error: unknown) => {
            throw error;
          },
        );
      }
    },
    fault: (fault) => {
      throw new Error('the driver reported a fault', { cause: fault.error });
    },
  };
}
