import { Buffer } from 'node:buffer';
import type { Place, RawBroker, RawMessage } from '@ackord/conformance';
import { eventually } from '@ackord/conformance';
import type { RabbitmqBroker } from '@ackord/conformance/launchers';
import amqp, { type Channel, type ChannelModel, type GetMessage } from 'amqplib';

/** What `restore` declares again. */
interface Removed {
  readonly kind: 'queue' | 'exchange';
  readonly arguments: Record<string, unknown>;
  readonly type: string;
  readonly bindings: readonly Binding[];
}

interface Binding {
  readonly source: string;
  readonly destination: string;
  readonly routing_key: string;
}

/** How long messages that were read take to be ready again. */
const BACK_MS = 2_000;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** RabbitMQ beside the driver: amqplib and the management API, names by the documented scheme. */
export class RabbitmqRaw implements RawBroker {
  readonly #broker: RabbitmqBroker;
  readonly #namespace: string;
  readonly #removed = new Map<string, Removed>();
  /** Policies that are set. */
  readonly #full = new Set<string>();
  #connection: Promise<ChannelModel> | undefined;

  constructor(broker: RabbitmqBroker, namespace: string) {
    this.#broker = broker;
    this.#namespace = namespace;
  }

  async publish(to: Place, { id, body, headers, type }: Partial<RawMessage>): Promise<void> {
    const name = this.#name(to);
    const content = Buffer.from(body ?? []);
    const properties = {
      persistent: true,
      ...(id !== undefined && { messageId: id }),
      ...(type !== undefined && { type }),
      headers: headers ?? {},
    };
    const connection = await this.#connected();
    const channel = await connection.createConfirmChannel();
    if (to.at === 'destination') channel.publish(name, type ?? '', content, properties);
    else channel.sendToQueue(name, content, properties);
    await channel.waitForConfirms();
    await channel.close();
  }

  async dump(place: Place): Promise<readonly RawMessage[]> {
    if ((await this.ready(place)) === 0) return [];
    const name = this.#name(place);
    const read: GetMessage[] = [];
    await this.#on(async (channel) => {
      for (let message = await channel.get(name); message; message = await channel.get(name)) {
        read.push(message);
      }
      channel.nackAll(true);
    });
    // They come back a moment after the channel has closed.
    await eventually(
      'what was read is ready again',
      async () => (await this.ready(place)) >= read.length,
      {
        deadlineMs: BACK_MS,
      },
    ).catch(() => undefined);
    return read.map(toRaw);
  }

  async ready(place: Place): Promise<number> {
    try {
      const answer = await this.#on((channel) => channel.checkQueue(this.#name(place)));
      return answer.messageCount;
    } catch (error) {
      if (isMissing(error)) return 0;
      throw error;
    }
  }

  async purge(place: Place): Promise<void> {
    await this.#on((channel) => channel.purgeQueue(this.#name(place)));
  }

  async remove(place: Place): Promise<void> {
    const name = this.#name(place);
    const kind = place.at === 'destination' ? 'exchange' : 'queue';
    const path = `${kind}s/{vhost}/${encodeURIComponent(name)}`;
    const { management } = this.#broker;
    const found = (await management.call('GET', path)) as Pick<Removed, 'arguments' | 'type'>;
    const side = kind === 'exchange' ? 'bindings/source' : 'bindings';
    const bindings = (await management.call('GET', `${path}/${side}`)) as readonly Binding[];
    this.#removed.set(name, { kind, arguments: found.arguments, type: found.type, bindings });
    await this.#on(async (channel) => {
      if (kind === 'exchange') await channel.deleteExchange(name);
      else await channel.deleteQueue(name);
    });
  }

  async restore(place: Place): Promise<void> {
    const name = this.#name(place);
    const removed = this.#removed.get(name);
    if (removed === undefined) throw new Error(`${name} was not removed.`);
    await this.#on(async (channel) => {
      if (removed.kind === 'exchange') await channel.assertExchange(name, removed.type);
      else await channel.assertQueue(name, { durable: true, arguments: removed.arguments });
      for (const { source, destination, routing_key } of removed.bindings) {
        // Every queue is bound to the default exchange by itself.
        if (source !== '') await channel.bindQueue(destination, source, routing_key);
      }
    });
  }

  /** By a policy, which takes a moment to reach the queue. */
  async full(place: Place, isFull: boolean): Promise<void> {
    const name = this.#name(place);
    const { management } = this.#broker;
    const policy = `policies/{vhost}/${encodeURIComponent(`full ${name}`)}`;
    if (!isFull) {
      this.#full.delete(policy);
      return void (await management.call('DELETE', policy));
    }
    this.#full.add(policy);
    const pattern = `^${name.replaceAll('.', '[.]')}$`;
    const definition = { 'max-length': 1, overflow: 'reject-publish' };
    await management.call('PUT', policy, { pattern, definition, 'apply-to': 'queues' });
    const path = `queues/{vhost}/${encodeURIComponent(name)}`;
    await eventually(`the policy holds for ${name}`, async () => {
      const queue = (await management.call('GET', path)) as { readonly policy?: string };
      return queue.policy === `full ${name}`;
    });
  }

  async buckets(consumer = `${this.#namespace}.reserve`): Promise<readonly number[]> {
    const start = `${consumer}.retry.`;
    const names = (await this.#names('queues')).filter((name) => name.startsWith(start));
    return names.map((name) => delayOf(name.slice(start.length))).sort((a, b) => a - b);
  }

  /** Deletes everything of the namespace. */
  async close(): Promise<void> {
    for (const policy of this.#full) await this.#broker.management.call('DELETE', policy);
    const queues = await this.#names('queues');
    const exchanges = await this.#names('exchanges');
    await this.#on(async (channel) => {
      for (const name of queues) await channel.deleteQueue(name);
      for (const name of exchanges) await channel.deleteExchange(name);
    });
    await (await this.#connection)?.close();
  }

  async #names(kind: 'queues' | 'exchanges'): Promise<readonly string[]> {
    const query = kind === 'queues' ? '?disable_stats=true&enable_queue_totals=true' : '';
    const path = `${kind}/{vhost}${query}`;
    const all = (await this.#broker.management.call('GET', path)) as readonly { name: string }[];
    return all.map(({ name }) => name).filter((name) => name.startsWith(`${this.#namespace}.`));
  }

  #name(place: Place): string {
    if (place.at === 'destination') return place.name ?? `${this.#namespace}.orders`;
    const consumer = place.consumer ?? `${this.#namespace}.reserve`;
    if (place.at === 'source') return consumer;
    return place.at === 'bucket'
      ? `${consumer}.retry.${labelOf(place.delayMs)}`
      : `${consumer}.${place.at}`;
  }

  /** On a channel of its own: a refusal closes it. */
  async #on<T>(work: (channel: Channel) => Promise<T>): Promise<T> {
    const connection = await this.#connected();
    const channel = await connection.createChannel();
    let isOpen = true;
    // The call that was refused rejects with the same error.
    channel.on('error', () => undefined);
    channel.on('close', () => {
      isOpen = false;
    });
    try {
      return await work(channel);
    } finally {
      if (isOpen) await channel.close();
    }
  }

  #connected(): Promise<ChannelModel> {
    this.#connection ??= amqp.connect(this.#broker.url).then((connection) => {
      const forget = (): void => {
        this.#connection = undefined;
      };
      // Cases stop the server; the next call connects again.
      connection.on('error', forget);
      connection.on('close', forget);
      return connection;
    });
    this.#connection.catch(() => {
      this.#connection = undefined;
    });
    return this.#connection;
  }
}

function toRaw({ content, properties }: GetMessage): RawMessage {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(properties.headers ?? {})) {
    headers[name] = typeof value === 'string' ? value : JSON.stringify(value);
  }
  return {
    body: content,
    headers,
    ...(properties.messageId !== undefined && { id: String(properties.messageId) }),
    ...(properties.type !== undefined && { type: String(properties.type) }),
  };
}

function labelOf(delayMs: number): string {
  const [unit = 'ms', ms = 1] =
    Object.entries(UNITS).findLast(([, each]) => delayMs % each === 0) ?? [];
  return `${delayMs / ms}${unit}`;
}

function delayOf(label: string): number {
  const [, count = '', unit = ''] = /^(\d+)(ms|s|m|h)$/.exec(label) ?? [];
  return Number(count) * (UNITS[unit] ?? Number.NaN);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, 'code') === 404;
}
