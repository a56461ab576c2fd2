import { Buffer } from 'node:buffer';
import type { FaultKind, Outcome, Outgoing, RejectKind } from '@ackord/core/driver';
import { ID_BYTES } from './capabilities.ts';
import { classifyError, missingExchange } from './classify-error.ts';
import type { AmqpConfirmChannel } from './client.ts';
import type { Sending } from './sending.ts';
import { readAddress } from './topology.ts';
import { publishTag, toProperties } from './wire-headers.ts';

/** One confirm channel. Writes at once, reports each message once through its `Sending`. */
export class Publisher {
  readonly channel: AmqpConfirmChannel;
  readonly #maxBodyBytes: number;
  readonly #isAlive: () => boolean;
  readonly #returned = new Set<number>();
  #lastTag = 0;
  #unconfirmed = 0;
  #open = true;
  /** What the broker said when it closed this channel; a lost connection leaves it unset. */
  #cause: unknown;
  /** Unconfirmed messages when the channel closed. One means that it is the guilty one. */
  #leftAtClose = 0;

  constructor(channel: AmqpConfirmChannel, maxBodyBytes: number, isAlive: () => boolean) {
    this.channel = channel;
    this.#maxBodyBytes = maxBodyBytes;
    this.#isAlive = isAlive;
    // A return always comes before the ack of its message.
    channel.on('return', (message) => {
      const tag = publishTag(message.properties.headers);
      if (tag !== undefined) this.#returned.add(tag);
    });
    channel.on('error', (error: unknown) => {
      this.#cause = error;
      this.#leftAtClose = this.#unconfirmed;
    });
    channel.on('close', () => {
      this.#open = false;
    });
  }

  get open(): boolean {
    return this.#open;
  }

  send(batch: readonly Outgoing[], sending: Sending): void {
    for (const [index, item] of batch.entries()) this.#publish(item, index, sending);
  }

  #publish(item: Outgoing, index: number, sending: Sending): void {
    const place = readAddress(item.to);
    const refusal = place === undefined ? badAddress(item) : refusalOf(item, this.#maxBodyBytes);
    if (place === undefined || refusal !== undefined) {
      queueMicrotask(() => sending.end(index, refusal ?? badAddress(item)));
      return;
    }
    const exchange = 'exchange' in place ? place.exchange : '';
    const key = 'exchange' in place ? item.mirror.type : place.queue;
    this.#lastTag += 1;
    const tag = this.#lastTag;
    const confirmed = (error: unknown): void => {
      this.#unconfirmed -= 1;
      if (this.#returned.delete(tag)) sending.end(index, unroutable(item));
      else if (!error) sending.end(index, CONFIRMED);
      else if (isNack(error)) sending.end(index, nacked(item, error));
      else this.#endLate(index, exchange, sending, error);
    };
    try {
      this.channel.publish(exchange, key, toBuffer(item.body), toProperties(item, tag), confirmed);
      this.#unconfirmed += 1;
    } catch (error) {
      // amqplib encodes before it writes: what it cannot encode was not sent and hurts nobody.
      const outcome = isClosed(error) ? undefined : unencodable(item, error);
      setImmediate(() => sending.end(index, outcome ?? this.#notSent(error)));
    }
  }

  /** The channel closed between its opening and this message. */
  #notSent(error: unknown): Outcome {
    if (!this.#isAlive()) return { is: 'unknown', why: 'session', error };
    return { is: 'together', kind: 'refused', stored: 'no', error };
  }

  /** The channels of a dying connection close before it does: judge once both had their say. */
  #endLate(index: number, exchange: string, sending: Sending, error: unknown): void {
    setImmediate(() => sending.end(index, this.#verdict(exchange, error)));
  }

  #verdict(exchange: string, fallback: unknown): Outcome {
    const error = this.#cause ?? fallback;
    // Only a refusal by the broker sets the cause; without one the connection took the channel along.
    if (this.#cause === undefined || !this.#isAlive()) {
      return { is: 'unknown', why: 'session', error };
    }
    const kind = toRejectKind(classifyError(error));
    // The named exchange was never there for these; should it have been deleted a moment ago, some may
    // be stored, and sending them again under the same id is harmless.
    const guilty = this.#leftAtClose === 1 || missingExchange(error) === exchange;
    return guilty
      ? { is: 'rejected', kind, error }
      : { is: 'together', kind, stored: 'unknown', error };
  }
}

const CONFIRMED: Outcome = Object.freeze({ is: 'confirmed' });

/** Kinds that closed a publish channel, as the reason of a refusal. */
function toRejectKind(kind: FaultKind): RejectKind {
  switch (kind) {
    case 'missing':
      return 'unroutable';
    case 'connection':
    case 'cancelled':
    case 'unknown':
      return 'refused';
    default:
      return kind;
  }
}

/** Found before sending, because the broker would close the channel and take neighbours along. */
function refusalOf({ body, mirror, to }: Outgoing, maxBodyBytes: number): Outcome | undefined {
  if (body.byteLength > maxBodyBytes) {
    const text = `rabbitmq: body of ${body.byteLength} bytes for ${to} is over the ${maxBodyBytes} bytes of max_message_size. Send a reference to the data, or raise the limit of server and driver.`;
    return { is: 'rejected', kind: 'too-large', error: new Error(text) };
  }
  for (const field of SHORT_STRINGS) {
    const text = mirror[field];
    // No character needs more than three bytes per UTF-16 unit, so most texts are not measured.
    if (text === undefined || text.length * 3 <= ID_BYTES || Buffer.byteLength(text) <= ID_BYTES)
      continue;
    const reason = `rabbitmq: ${field} of ${Buffer.byteLength(text)} bytes for ${to} is over the ${ID_BYTES} bytes that AMQP carries. Shorten it.`;
    return { is: 'rejected', kind: 'invalid', error: new Error(reason) };
  }
  return undefined;
}

const SHORT_STRINGS = ['id', 'type', 'correlationId', 'contentType'] as const;

const badAddress = ({ to }: Outgoing): Outcome => ({
  is: 'rejected',
  kind: 'invalid',
  error: new Error(
    `rabbitmq: "${to}" is not an address of this driver; it writes x:<exchange> or q:<queue>. Take it from plan.address().`,
  ),
});

/** Header tables over 64 KiB throw a RangeError in amqplib. */
const unencodable = ({ to }: Outgoing, error: unknown): Outcome => ({
  is: 'rejected',
  kind: error instanceof RangeError && /field table/.test(error.message) ? 'too-large' : 'invalid',
  error: new Error(
    `rabbitmq: the message for ${to} cannot be encoded. Shorten its headers or the address.`,
    {
      cause: error,
    },
  ),
});

const unroutable = ({ to, mirror }: Outgoing): Outcome => ({
  is: 'rejected',
  kind: 'unroutable',
  error: new Error(
    `rabbitmq: no queue takes type "${mirror.type}" at ${to}. Start its consumer once, or create the queue.`,
  ),
});

/** A queue that is full (reject-publish) or has no majority; it may be better a moment later. */
const nacked = ({ to }: Outgoing, cause: unknown): Outcome => ({
  is: 'rejected',
  kind: 'throttled',
  error: new Error(
    `rabbitmq: a queue behind ${to} refused the message (nack): it is full or has no majority. Free it, or send again later.`,
    { cause },
  ),
});

/** amqplib's word for a nack; what a closed channel left open says `channel closed`. */
const isNack = (error: unknown): boolean =>
  error instanceof Error && error.message === 'message nacked';

/** amqplib's answer to a call on a channel that is closed or closing. */
const isClosed = (error: unknown): boolean =>
  error instanceof Error && error.name === 'IllegalOperationError';

const toBuffer = (body: Uint8Array): Buffer =>
  Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
