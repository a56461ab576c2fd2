import { randomUUID } from 'node:crypto';
import {
  type Delivery,
  type Fault,
  type Notice,
  type Outcome,
  type Outgoing,
  type Plan,
  type QueueReceiver,
  type QueueSession,
  type Source,
  systemClock,
  type Topology,
} from '@ackord/core/driver';
import amqp, { type ChannelModel } from 'amqplib';
import { type RabbitmqOptions, rabbitmq } from '../src/index.ts';

export { outgoing } from './message.ts';

export const DELAY_MS = 300;

export const TOPOLOGY: Topology = {
  destinations: [{ name: 'orders' }],
  consumers: [
    { name: 'reserve', from: ['orders'], types: ['order.created'], delaysMs: [DELAY_MS] },
    { name: 'audit', from: ['orders'], types: [], delaysMs: [] },
  ],
};

/** A session in a namespace of its own, and a raw connection beside it. */
export interface Rig {
  readonly session: QueueSession;
  readonly plan: Plan;
  readonly raw: ChannelModel;
  readonly notices: readonly Notice[];
  readonly prefix: string;
  /** Removes everything that the plan names. */
  end(): Promise<void>;
}

export async function openRig(
  url: string,
  options: Partial<RabbitmqOptions> = {},
  topology: Topology = TOPOLOGY,
): Promise<Rig> {
  const prefix = `t${randomUUID().slice(0, 8)}.`;
  const driver = rabbitmq({ url, prefix, connectionName: prefix, ...options });
  const plan = driver.plan(topology);
  const notices: Notice[] = [];
  const session = await driver.open({
    plan,
    signal: AbortSignal.timeout(10_000),
    clock: systemClock,
    notice: (notice) => notices.push(notice),
  });
  if (session.kind !== 'queue') throw new Error('a queue session was expected');
  const raw = await amqp.connect(url);
  raw.on('error', () => {});
  const end = async (): Promise<void> => {
    await session.close();
    const channel = await raw.createChannel();
    for (const { kind, name } of plan.resources) {
      if (kind === 'queue') await channel.deleteQueue(name);
      if (kind === 'exchange') await channel.deleteExchange(name);
    }
    await raw.close();
  };
  return { session, plan, raw, notices, prefix, end };
}

/** Outcomes in the order of the batch. */
export function send(
  session: QueueSession,
  batch: readonly Outgoing[],
  options: { readonly signal?: AbortSignal; readonly alone?: boolean } = {},
): Promise<readonly Outcome[]> {
  return new Promise((resolve, reject) => {
    const outcomes: Outcome[] = [];
    let left = batch.length;
    let returned = false;
    session.send(batch, { signal: AbortSignal.timeout(10_000), ...options }, (index, outcome) => {
      if (!returned) reject(new Error('done() was called before send() returned'));
      if (outcomes[index]) reject(new Error(`two outcomes for ${index}`));
      outcomes[index] = outcome;
      left -= 1;
      if (left === 0) resolve(outcomes);
    });
    returned = true;
  });
}

export interface Inbox {
  readonly receiver: QueueReceiver;
  readonly deliveries: Delivery[];
  readonly faults: { readonly fault: Fault; readonly ended: boolean }[];
}

export async function receive(
  session: QueueSession,
  source: Source | undefined,
  window: number,
): Promise<Inbox> {
  if (!source) throw new Error('no such source');
  const deliveries: Delivery[] = [];
  const faults: Inbox['faults'] = [];
  const attached = Promise.withResolvers<QueueReceiver>();
  await session.receive(source, (receiver) => {
    attached.resolve(receiver);
    return {
      delivered: (more) => deliveries.push(...more),
      fault: (fault, ended) => faults.push({ fault, ended }),
    };
  });
  const receiver = await attached.promise;
  receiver.setWindow(window);
  return { receiver, deliveries, faults };
}

export const sourceOf = (rig: Rig, consumer: string, feed: Source['feed']): Source | undefined =>
  rig.plan.sources(consumer).find((source) => source.feed === feed);

export const physical = (address: string | undefined): string => (address ?? '').slice(2);

/** Ready messages, read over the raw connection. */
export async function count(rig: Rig, queue: string): Promise<number> {
  const channel = await rig.raw.createChannel();
  channel.on('error', () => {});
  const { messageCount } = await channel.checkQueue(queue);
  await channel.close();
  return messageCount;
}

/** Highest number of ready messages seen: what an ended channel left behind comes back up to 100 ms later. */
export async function mostSeen(rig: Rig, queue: string, forMs = 700): Promise<number> {
  let most = 0;
  for (const until = Date.now() + forMs; Date.now() < until && most === 0; ) {
    most = Math.max(most, await count(rig, queue));
  }
  return most;
}
