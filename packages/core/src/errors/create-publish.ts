import type { ErrorCode } from './codes.ts';
import { afterColon, describeCause } from './describe-cause.ts';
import { MessagingError } from './messaging-error.ts';

/** Which message it is about. */
export interface PublishSubject {
  readonly broker: string;
  /** Broker-neutral destination, or the address of a copy. */
  readonly destination: string;
  readonly id: string;
  readonly type?: string;
  readonly cause?: unknown;
}

export function publishUnroutable(at: PublishSubject): MessagingError {
  return about(
    'MSG_PUBLISH_UNROUTABLE',
    at,
    'reaches no queue, topic or stream',
    'Start a consumer of it first, so that a queue exists.',
  );
}

export function publishTooLarge(
  at: PublishSubject & { readonly bytes?: number; readonly maxBytes?: number },
): MessagingError {
  const size = at.bytes === undefined ? 'is' : `has ${at.bytes} bytes and is`;
  const limit = at.maxBytes === undefined ? 'the limit' : `the limit of ${at.maxBytes} bytes`;
  return about(
    'MSG_PUBLISH_TOO_LARGE',
    at,
    `${size} over ${limit}${at.bytes === undefined ? reasonOf(at) : ''}`,
    'Store the content elsewhere and send a reference.',
    { bytes: at.bytes, maxBytes: at.maxBytes },
  );
}

export function publishInvalid(at: PublishSubject & { readonly reason?: string }): MessagingError {
  return about(
    'MSG_PUBLISH_INVALID',
    at,
    `is not accepted in this form${reasonOf(at)}`,
    'Correct the message; the same one is refused again.',
    { reason: at.reason },
  );
}

export function publishRefused(at: PublishSubject & { readonly reason?: string }): MessagingError {
  return about(
    'MSG_PUBLISH_REFUSED',
    at,
    `was refused${reasonOf(at)}`,
    'The broker did not store it (a limit of the queue, or too few replicas): try again later with the same id.',
    { reason: at.reason },
  );
}

export function publishThrottled(at: PublishSubject): MessagingError {
  return about(
    'MSG_PUBLISH_THROTTLED',
    at,
    `was throttled${reasonOf(at)}`,
    'Send less at once, or try again later with the same id.',
  );
}

export function publishAuth(at: PublishSubject): MessagingError {
  return about(
    'MSG_PUBLISH_AUTH',
    at,
    `may not be published there${reasonOf(at)}`,
    'Grant the user the right to write to the destination.',
  );
}

export function publishUnconfirmed(
  at: PublishSubject & { readonly timeoutMs?: number; readonly sent?: boolean },
): MessagingError {
  const within = at.timeoutMs === undefined ? '' : ` within ${at.timeoutMs} ms`;
  const state =
    at.sent === false
      ? `was not sent${within}: there was no connection to the broker`
      : `was not confirmed${within}: it may or may not be stored`;
  return about(
    'MSG_PUBLISH_UNCONFIRMED',
    at,
    state,
    'Publish the same draft again: the id stays, and consumers with an Inbox apply it once.',
    { timeoutMs: at.timeoutMs },
  );
}

export function publishAborted(at: PublishSubject): MessagingError {
  return about(
    'MSG_PUBLISH_ABORTED',
    at,
    'was aborted before anything was sent',
    'It is safe to publish it again.',
  );
}

export function publishClosed(at: PublishSubject): MessagingError {
  return about(
    'MSG_PUBLISH_CLOSED',
    at,
    'was not sent, because the bus is closed or closing',
    'Publish before close(), or through the outbox.',
  );
}

/** Given, else what the broker said. */
function reasonOf({ reason, cause }: PublishSubject & { readonly reason?: string }): string {
  return afterColon(reason || describeCause(cause));
}

function about(
  code: ErrorCode,
  at: PublishSubject,
  state: string,
  fix: string,
  figures: Readonly<Record<string, unknown>> = {},
): MessagingError {
  const type = at.type === undefined ? '' : ` of type ${at.type}`;
  return new MessagingError(
    code,
    `Message ${at.id}${type} to ${at.destination} on ${at.broker} ${state}. ${fix}`,
    {
      broker: at.broker,
      details: { destination: at.destination, id: at.id, type: at.type, ...figures },
      cause: at.cause,
    },
  );
}
