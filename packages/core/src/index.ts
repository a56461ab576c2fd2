export { Bus } from './bus/bus.ts';
export type { BusOptions } from './bus/bus-options.ts';
export { createBus } from './bus/create-bus.ts';
export type { Health } from './bus/health.ts';
export type { ConsumerOptions } from './consume/consumer-options.ts';
export {
  type Handler,
  type HandlerContext,
  type HandlerFunction,
  type HandlerOutbox,
  type Message,
  on,
} from './consume/handler.ts';
export {
  type Contract,
  type Draft,
  type DraftAggregate,
  type DraftOptions,
  type EventOptions,
  event,
} from './contract/contract.ts';
export type { StandardSchema } from './contract/standard-schema.ts';
export { type Codec, envelopeCodec, type RawMessage } from './envelope/codec.ts';
export type { Aggregate, Envelope } from './envelope/envelope.ts';
export { ERROR_CODES, type ErrorCode } from './errors/codes.ts';
export { MessagingError } from './errors/messaging-error.ts';
export { type FailureRule, until } from './failure/classify.ts';
export type { FailureClass } from './failure/failure-class.ts';
export { BusinessRejection, permanent, transient } from './failure/failures.ts';
export type { BusEvent, MessageRef } from './observe/events.ts';
export type { Interceptor, StepInfo, StepName } from './observe/steps.ts';
export type { OrderPolicy } from './order/decide-order.ts';
export type { TransactionOutbox } from './outbox/outbox-writer.ts';
export {
  type ParkedRecord,
  type ParkReason,
  readParkedRecord,
} from './parking/parked-message.ts';
export type { ParkedMessage } from './parking/peek-parked.ts';
export type { PublishOptions, PublishResult } from './publish/publisher.ts';
export type { RetryOptions } from './retry/retry-policy.ts';
export type { Duration } from './time/duration.ts';
