import type { Draft } from '../contract/contract.ts';
import { type Duration, parseDuration } from '../time/duration.ts';
import type { FailureClass } from './failure-class.ts';

/** Symbols of the global registry, so that two copies of core understand each other. */
const FAILURE: symbol = Symbol.for('@ackord/failure');
const REJECTION: symbol = Symbol.for('@ackord/business-rejection');

/** What an error says about itself. */
export interface CarriedFailure {
  readonly failure: FailureClass;
  readonly retryAfterMs?: number;
}

/** An error that carries its class; `cause` is the error it was made from. */
export class ClassifiedError extends Error {
  constructor(from: unknown, carried: CarriedFailure) {
    super(textOf(from), typeof from === 'string' ? undefined : { cause: from });
    this.name = carried.failure === 'transient' ? 'TransientError' : 'PermanentError';
    Object.defineProperty(this, FAILURE, { value: carried });
  }
}

/**
 * For a handler to throw: worth another try.
 *
 * @param options.retryAfter - The next attempt comes no earlier than this.
 * @throws MSG_CONFIG_INVALID `retryAfter` is not a duration.
 */
export function transient(
  from: unknown,
  options: { readonly retryAfter?: Duration } = {},
): ClassifiedError {
  if (options.retryAfter === undefined) return new ClassifiedError(from, { failure: 'transient' });
  const retryAfterMs = parseDuration(options.retryAfter, 'retryAfter');
  return new ClassifiedError(from, { failure: 'transient', retryAfterMs });
}

/** For a handler to throw: the same message would fail again, so it is parked at once. */
export function permanent(from: unknown): ClassifiedError {
  return new ClassifiedError(from, { failure: 'permanent' });
}

/** What `transient` or `permanent` put on the error; undefined on any other value. */
export function carriedFailure(error: unknown): CarriedFailure | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  return (error as Record<symbol, CarriedFailure | undefined>)[FAILURE];
}

/**
 * A business result instead of an effect: the handler's changes are undone, its events are
 * published, the message is acked. Never retried, never parked.
 */
export class BusinessRejection extends Error {
  static {
    Object.defineProperty(BusinessRejection.prototype, REJECTION, { value: true });
  }

  readonly events: readonly Draft[];

  constructor(events: Draft | readonly Draft[], reason?: string) {
    super(reason ?? 'rejected by a business rule');
    this.name = 'BusinessRejection';
    this.events = isList(events) ? events : [events];
  }
}

/** True also for a rejection made by another copy of core. */
export function isBusinessRejection(error: unknown): error is BusinessRejection {
  if (typeof error !== 'object' || error === null) return false;
  return (error as Record<symbol, unknown>)[REJECTION] === true;
}

function isList(events: Draft | readonly Draft[]): events is readonly Draft[] {
  return Array.isArray(events);
}

function textOf(from: unknown): string {
  if (typeof from === 'string') return from;
  return from instanceof Error ? from.message : String(from);
}
