import type { RabbitmqManagement } from '@ackord/conformance/launchers';
import type { RawMessage } from './read-orders.ts';
import type { RawParked } from './world.ts';

/** More than the demo can park. */
const MAX_PEEKED = 20_000;

/** The queues of one run, read and written by the management API, past the library. */
export class RabbitmqQueues {
  readonly #api: RabbitmqManagement;
  readonly #prefix: string;

  constructor(api: RabbitmqManagement, prefix: string) {
    this.#api = api;
    this.#prefix = prefix;
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

  /** Messages, ready or not, in the parking lots or in all other queues of the run. */
  async count(which: 'parking' | 'others'): Promise<number> {
    const queues = (await this.#list('queues')) as readonly { name: string; messages?: number }[];
    return queues
      .filter(({ name }) => name.endsWith('.parking') === (which === 'parking'))
      .reduce((sum, { messages = 0 }) => sum + messages, 0);
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

  /** Deletes the queues and exchanges of the run. */
  async remove(): Promise<void> {
    for (const kind of ['queues', 'exchanges'] as const) {
      for (const { name } of await this.#list(kind)) {
        await this.#api.call('DELETE', `${kind}/{vhost}/${encodeURIComponent(name)}`);
      }
    }
  }

  async #list(kind: 'queues' | 'exchanges'): Promise<readonly { readonly name: string }[]> {
    const all = (await this.#api.call('GET', `${kind}/{vhost}`)) as readonly { name: string }[];
    return all.filter(({ name }) => name.startsWith(this.#prefix));
  }
}
