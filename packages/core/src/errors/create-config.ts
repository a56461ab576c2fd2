import { describeValue } from './describe-value.ts';
import { MessagingError } from './messaging-error.ts';

/** `expected` completes "expected …"; `fix` is a sentence of its own. */
export function configInvalid(at: {
  readonly option: string;
  readonly value: unknown;
  readonly expected: string;
  readonly fix?: string;
  readonly cause?: unknown;
}): MessagingError {
  const { option, value, expected, fix, cause } = at;
  return new MessagingError(
    'MSG_CONFIG_INVALID',
    `Option ${option} is ${describeValue(value)}: expected ${expected}.${fix ? ` ${fix}` : ''}`,
    { details: { option, value: describeValue(value), expected }, cause },
  );
}

export function configDelayUnsupported(at: {
  readonly profile: string;
  readonly option: string;
  readonly reason: string;
  readonly fix?: string;
}): MessagingError {
  const fix = at.fix ?? 'Change the option or choose another broker profile.';
  return new MessagingError(
    'MSG_CONFIG_DELAY_UNSUPPORTED',
    `Option ${at.option} cannot be honoured by ${at.profile}: ${at.reason}. ${fix}`,
    { broker: at.profile, details: { option: at.option, reason: at.reason } },
  );
}

export function configDelayTooLong(at: {
  readonly profile: string;
  readonly consumer?: string;
  readonly askedMs: number;
  readonly maxMs: number;
}): MessagingError {
  const { profile, consumer, askedMs, maxMs } = at;
  const of = consumer === undefined ? '' : ` of consumer ${consumer}`;
  return new MessagingError(
    'MSG_CONFIG_DELAY_TOO_LONG',
    `Retry delay${of} of ${askedMs} ms is over the ${maxMs} ms that ${profile} can hold a message. ` +
      'Shorten retry.delays or choose a profile with longer delays.',
    { broker: profile, details: { consumer, askedMs, maxMs } },
  );
}

export function configDedupeWindow(at: {
  readonly consumer: string;
  readonly windowMs: number;
  readonly neededMs: number;
}): MessagingError {
  const { consumer, windowMs, neededMs } = at;
  return new MessagingError(
    'MSG_CONFIG_DEDUPE_WINDOW',
    `The dedupe window of consumer ${consumer} is ${windowMs} ms (${hours(windowMs)}), but retry budget, ` +
      `parking life and clock skew together last ${neededMs} ms (${hours(neededMs)}): a late copy would ` +
      'run twice. Raise dedupeWindow, or lower parkingLife or the delays, maxAttempts or maxAge of retry.',
    { details: { consumer, windowMs, neededMs } },
  );
}

function hours(ms: number): string {
  return `${Number((ms / 3_600_000).toFixed(2))} h`;
}

/** `what` is the subject of the sentence, for example "context.tx". */
export function configNoStore(at: {
  readonly what: string;
  readonly consumer?: string;
  readonly fix?: string;
}): MessagingError {
  const { what, consumer } = at;
  const of = consumer === undefined ? '' : ` of consumer ${consumer}`;
  const fix =
    at.fix ?? 'Pass a store to createBus; a consumer without Inbox states inbox: { none: reason }.';
  return new MessagingError(
    'MSG_CONFIG_NO_STORE',
    `${what}${of} needs a store, and the bus has none for it. ${fix}`,
    { details: { what, consumer } },
  );
}

export function configDuplicateConsumer(at: { readonly consumer: string }): MessagingError {
  return new MessagingError(
    'MSG_CONFIG_DUPLICATE_CONSUMER',
    `Consumer ${at.consumer} is declared twice in one bus: both would share its queue and Inbox. ` +
      'Give each consumer a name of its own, or list both handlers in one consumer.',
    { details: { consumer: at.consumer } },
  );
}

export function configUnknownDestination(at: {
  readonly destination: string;
  readonly known?: readonly string[];
  readonly fix?: string;
}): MessagingError {
  const known = at.known === undefined ? '' : ` Known: ${at.known.join(', ') || 'none'}.`;
  const fix = at.fix ?? 'Declare it before start, or correct the destination of the contract.';
  return new MessagingError(
    'MSG_CONFIG_UNKNOWN_DESTINATION',
    `Destination ${describeValue(at.destination)} is not known to this bus.${known} ${fix}`,
    { details: { destination: at.destination, known: at.known } },
  );
}

export function configOrderUnsupported(at: {
  readonly consumer: string;
  readonly policy: string;
  readonly reason: string;
  readonly fix?: string;
}): MessagingError {
  const { consumer, policy, reason } = at;
  return new MessagingError(
    'MSG_CONFIG_ORDER_UNSUPPORTED',
    `Ordering policy ${policy} of consumer ${consumer} cannot be kept: ${reason}. ` +
      (at.fix ?? 'Choose another policy.'),
    { details: { consumer, policy, reason } },
  );
}
