import { Buffer } from 'node:buffer';
import {
  type FaultKind,
  type Outcome,
  type Outgoing,
  type OutgoingLimits,
  type RejectKind,
  refuseOutgoing,
  rejected,
  type SendCall,
} from '@ackord/core/driver';
import { ID_BYTES } from './capabilities.ts';
import { classifyError, missingExchange } from './classify-error.ts';
import type { AmqpConfirmChannel } from './client.ts';
import { readAddress } from './topology.ts';
import { publishTag, toProperties } from './wire-headers.ts';

/** One confirm channel. Writes at once, reports each message once through its `SendCall`. */
export class Publisher {
  readonly channel: AmqpConfirmChannel;
  readonly #limits: OutgoingLimits;
  readonly #isAlive: () => boolean;
  readonly #returned = new Set<number>();
  #lastTag = 0;
  #unconfirmed = 0;
  #open = true;
  /** What the broker said when it closed this channel; a lost connection leaves it unset. */
  #cause: unknown;
  /** Unconfirmed messages when the channel closed. One means that it is the guilty one. */
  #leftAtClose = 0;

  constructor(channel: AmqpConfirmChannel, bodyBytes: number, isAlive: () => boolean) {
    this.channel = channel;
    this.#limits = { bodyBytes, bodySetting: 'max_message_size', mirrorBytes: ID_BYTES };
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

  send(batch: readonly Outgoing[], sending: SendCall): void {
    for (let index = 0; index < batch.length; index += 1) {
      this.#publish(batch[index] as Outgoing, index, sending);
    }
  }

  #publish(item: Outgoing, index: number, sending: SendCall): void {
    const place = readAddress(item.to);
    // Before sending, because the broker would close the channel and take neighbours along.
    const refusal = place === undefined ? badAddress(item) : refuseOutgoing(item, this.#limits);
    if (place === undefined || refusal !== undefined) {
      queueMicrotask(() => sending.end(index, refusal ?? badAddress(item)));
      return;
    }
    const { exchange, queue: key = item.mirror.type } = place;
    this.#lastTag += 1;
    const tag = this.#lastTag;
    const confirmed = (error: unknown): void => {
      this.#unconfirmed -= 1;
      if (this.#returned.delete(tag)) sending.end(index, unroutable(item));
      else if (!error) sending.end(index, CONFIRMED);
      else if (isNack(error)) sending.end(index, nacked(item, error));
      // The channels of a dying connection close before it does: judge once both had their say.
      else setImmediate(() => sending.end(index, this.#verdict(exchange, error)));
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
  if (kind === 'missing') return 'unroutable';
  return kind === 'connection' || kind === 'cancelled' || kind === 'unknown' ? 'refused' : kind;
}

const badAddress = ({ to }: Outgoing): Outcome =>
  rejected(
    'invalid',
    `rabbitmq: "${to}" is not an address of this driver, which are x:<exchange> and q:<queue>. Take it from plan.address().`,
  );

const unroutable = ({ to, mirror }: Outgoing): Outcome =>
  rejected(
    'unroutable',
    `rabbitmq: no queue takes type "${mirror.type}" at ${to}. Start its consumer once, or create the queue.`,
  );

/** Header tables over 64 KiB throw a RangeError in amqplib. */
function unencodable({ to }: Outgoing, error: unknown): Outcome {
  const tooLarge = error instanceof RangeError && error.message.includes('field table');
  const text = `rabbitmq: the message for ${to} cannot be encoded. Shorten its headers or the address.`;
  return rejected(tooLarge ? 'too-large' : 'invalid', text, error);
}

/** A queue that is full (reject-publish) or has no majority; it may be better a moment later. */
const nacked = ({ to }: Outgoing, error: unknown): Outcome =>
  rejected(
    'throttled',
    `rabbitmq: a queue behind ${to} refused the message (nack): it is full or has no majority. Free it, or send again later.`,
    error,
  );

/** amqplib's word for a nack; what a closed channel left open says `channel closed`. */
const isNack = (error: unknown): boolean =>
  error instanceof Error && error.message === 'message nacked';

/** amqplib's answer to a call on a channel that is closed or closing. */
const isClosed = (error: unknown): boolean =>
  error instanceof Error && error.name === 'IllegalOperationError';

const toBuffer = (body: Uint8Array): Buffer =>
  Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
