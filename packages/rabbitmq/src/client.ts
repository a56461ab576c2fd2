/** The part of amqplib that this package uses; amqplib's own types are assignable to it. */
export interface AmqpConnection extends AmqpEmitter {
  readonly connection: {
    readonly serverProperties: { readonly version?: string | undefined };
    /** The socket; not in amqplib's types. */
    readonly stream?: { destroy(): void };
  };
  createChannel(): Promise<AmqpChannel>;
  createConfirmChannel(): Promise<AmqpConfirmChannel>;
  close(): Promise<void>;
}

export interface AmqpChannel extends AmqpEmitter {
  assertExchange(name: string, type: string, options: { durable: boolean }): Promise<unknown>;
  checkExchange(name: string): Promise<unknown>;
  assertQueue(
    name: string,
    options: { durable: boolean; arguments: unknown },
  ): Promise<{ readonly messageCount: number }>;
  checkQueue(name: string): Promise<{ readonly messageCount: number }>;
  bindQueue(queue: string, exchange: string, key: string): Promise<unknown>;
  prefetch(count: number): Promise<unknown>;
  consume(
    queue: string,
    onMessage: (message: AmqpMessage | null) => void,
  ): Promise<{ readonly consumerTag: string }>;
  cancel(consumerTag: string): Promise<unknown>;
  get(queue: string): Promise<AmqpMessage | false>;
  ack(message: AmqpSettled, allUpTo: boolean): void;
  nack(message: AmqpSettled, allUpTo: boolean, requeue: boolean): void;
  close(): Promise<void>;
}

export interface AmqpConfirmChannel extends AmqpChannel {
  publish(
    exchange: string,
    routingKey: string,
    content: Buffer,
    options: AmqpPublish,
    confirmed: (error: unknown) => void,
  ): boolean;
}

export interface AmqpEmitter {
  // biome-ignore lint/suspicious/noExplicitAny: an event's arguments depend on its name
  on(event: string, listener: (...args: any[]) => void): unknown;
}

/** What `ack` and `nack` read of a message. */
export interface AmqpSettled {
  readonly fields: { readonly deliveryTag: number };
}

export interface AmqpMessage {
  readonly content: Buffer;
  readonly fields: {
    readonly deliveryTag: number;
    readonly redelivered: boolean;
    readonly exchange: string;
    readonly routingKey: string;
  };
  /** Written by whoever published: nothing in here can be trusted to have its declared type. */
  readonly properties: {
    readonly headers?: Readonly<Record<string, unknown>> | undefined;
    readonly messageId?: unknown;
    readonly type?: unknown;
    readonly timestamp?: unknown;
  };
}

export interface AmqpPublish {
  readonly persistent: true;
  readonly mandatory: true;
  readonly contentType: string;
  readonly messageId: string;
  readonly type: string;
  readonly correlationId?: string;
  /** Seconds. */
  readonly timestamp?: number;
  readonly headers: Readonly<Record<string, string | number>>;
}
