import type { RabbitmqBroker, RabbitmqManagement } from '@ackord/conformance/launchers';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import type { RawMessage } from './read-orders.ts';
import type { RawParked } from './world.ts';

/** More than the demo can park. */
const MAX_PEEKED = 20_000;

const CONNECT_MS = 10_000;

/** What the management API tells of a queue or exchange, as far as it is read. */
interface ListedQueue {
  readonly name: string;
  readonly messages?: number;
  readonly message_stats?: { readonly publish?: number };
}

interface Raw {
  readonly api: RabbitmqManagement;
  readonly connection: ChannelModel;
  readonly channel: Channel;
}

/** The queues of one run, read and written by raw clients, past the library. */
export class RabbitmqQueues {
  readonly #api: RabbitmqManagement;
  readonly #connection: ChannelModel;
  readonly #channel: Channel;
  readonly #prefix: string;

  private constructor(raw: Raw, prefix: string) {
    this.#api = raw.api;
    this.#connection = raw.connection;
    this.#channel = raw.channel;
    this.#prefix = prefix;
  }

  static async open({ management, url }: RabbitmqBroker, prefix: string): Promise<RabbitmqQueues> {
    const connection = await connect(url, { timeout: CONNECT_MS });
    const channel = await connection.createChannel();
    // A failing call rejects by itself.
    for (const emitter of [connection, channel]) emitter.on('error', () => {});
    return new RabbitmqQueues({ api: management, connection, channel }, prefix);
  }

  /** @throws no queue took it. */
  async publish(exchange: string, type: string, { id, body }: RawMessage): Promise<void> {
    const path = `exchanges/{vhost}/${encodeURIComponent(this.#prefix + exchange)}/publish`;
    const answer = (await this.#api.call('POST', path, {
      properties: { message_id: id, type, delivery_mode: 2, content_type: 'application/json' },
      routing_key: type,
      payload: body,
      payload_encoding: 'string',
    })) as { readonly routed: boolean };
    if (!answer.routed) throw new Error(`${exchange} has no queue for ${id}`);
  }

  /** Messages in the parking lots, or in all other queues and buckets of the run. */
  async count(which: 'parking' | 'others'): Promise<number> {
    const queues = await this.#list('queues');
    let sum = 0;
    for (const { name, messages = 0 } of queues) {
      if (name.endsWith('.parking') !== (which === 'parking')) continue;
      // What waits is counted at once; the API also knows what was delivered, as of its last tick.
      const { messageCount } = await this.#channel.checkQueue(name);
      sum += Math.max(messageCount, messages);
    }
    return sum;
  }

  /** Copies that went into the buckets of a consumer. Undefined: this server keeps no such counts. */
  async retryCopies(consumer: string): Promise<number | undefined> {
    const buckets = await this.#list('queues');
    const sum = buckets
      .filter(({ name }) => name.startsWith(`${this.#prefix}${consumer}.retry.`))
      .reduce((total, { message_stats }) => total + (message_stats?.publish ?? 0), 0);
    return sum === 0 ? undefined : sum;
  }

  /** What the parking lot holds; it stays there. */
  async parked(consumer: string): Promise<readonly RawParked[]> {
    const queue = encodeURIComponent(`${this.#prefix}${consumer}.parking`);
    const messages = (await this.#api.call('POST', `queues/{vhost}/${queue}/get`, {
      count: MAX_PEEKED,
      ackmode: 'ack_requeue_true',
      encoding: 'base64',
    })) as readonly { payload: string; properties: { headers?: Record<string, unknown> } }[];
    return messages.map(({ payload, properties }) => ({
      headers: properties.headers ?? {},
      body: Buffer.from(payload, 'base64').toString('utf8'),
    }));
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Deletes the queues and exchanges of the run. */
  async remove(): Promise<void> {
    for (const kind of ['queues', 'exchanges'] as const) {
      for (const { name } of await this.#list(kind)) {
        await this.#api.call('DELETE', `${kind}/{vhost}/${encodeURIComponent(name)}`);
      }
    }
  }

  async #list(kind: 'queues' | 'exchanges'): Promise<readonly ListedQueue[]> {
    const all = (await this.#api.call('GET', `${kind}/{vhost}`)) as readonly ListedQueue[];
    return all.filter(({ name }) => name.startsWith(this.#prefix));
  }
}
