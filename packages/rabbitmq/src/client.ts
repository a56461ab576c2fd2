import type { Duplex } from 'node:stream';
import type { Channel, ChannelModel, ConfirmChannel, ConsumeMessage, Message } from 'amqplib';

/** The calls of amqplib that this package uses, so that a stand-in stays small. */
export type AmqpConnection = Pick<ChannelModel, 'on' | 'close'> & {
  readonly connection: {
    readonly serverProperties: { readonly version?: string | undefined };
    /** The socket; not in amqplib's types. */
    readonly stream?: Pick<Duplex, 'destroy' | 'write' | 'cork' | 'uncork'>;
  };
  createChannel(): Promise<AmqpChannel>;
  createConfirmChannel(): Promise<AmqpConfirmChannel>;
};

export type AmqpChannel = Pick<
  Channel,
  | 'on'
  | 'close'
  | 'assertExchange'
  | 'checkExchange'
  | 'assertQueue'
  | 'checkQueue'
  | 'bindQueue'
  | 'prefetch'
  | 'consume'
  | 'cancel'
  | 'get'
> & {
  ack(message: AmqpSettled, allUpTo: boolean): void;
  nack(message: AmqpSettled, allUpTo: boolean, requeue: boolean): void;
};

export type AmqpConfirmChannel = AmqpChannel & Pick<ConfirmChannel, 'publish'>;

/** What `ack` and `nack` read of a message. */
type AmqpSettled = { readonly fields: Pick<Message['fields'], 'deliveryTag'> };

export type AmqpMessage = ConsumeMessage;

/** Written by whoever published: no value can be trusted to have its declared type. */
export type AmqpHeaders = Readonly<Record<string, unknown>> | undefined;
