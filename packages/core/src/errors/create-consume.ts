import { afterColon, describeCause } from './describe-cause.ts';
import { MessagingError } from './messaging-error.ts';

export function consumeHandlerTimeout(at: {
  readonly consumer: string;
  readonly timeoutMs: number;
  readonly id?: string;
  readonly type?: string;
}): MessagingError {
  const { consumer, timeoutMs, id, type } = at;
  const message = id === undefined ? '' : ` for message ${id}`;
  return new MessagingError(
    'MSG_CONSUME_HANDLER_TIMEOUT',
    `The handler of consumer ${consumer} did not end within ${timeoutMs} ms${message}. ` +
      'Its transaction was rolled back. Raise handlerTimeout or shorten the work.',
    { details: { consumer, timeoutMs, id, type } },
  );
}

export function consumeIntake(at: {
  readonly broker: string;
  readonly consumer: string;
  readonly source: string;
  readonly cause?: unknown;
}): MessagingError {
  const { broker, consumer, source, cause } = at;
  return new MessagingError(
    'MSG_CONSUME_INTAKE',
    `Consumer ${consumer} cannot receive from ${source} on ${broker}${afterColon(describeCause(cause))}. ` +
      'It is opened again after a back-off: check that the source exists and that the user may read it.',
    { broker, details: { consumer, source }, cause },
  );
}

/** `copy`: what could not be stored. */
export function consumeCopyUnconfirmed(at: {
  readonly broker: string;
  readonly consumer: string;
  readonly id: string;
  readonly copy: 'retry' | 'parking' | 'redrive';
  readonly cause?: unknown;
}): MessagingError {
  const { broker, consumer, id, copy, cause } = at;
  return new MessagingError(
    'MSG_CONSUME_COPY_UNCONFIRMED',
    `The ${copy} copy of message ${id} of consumer ${consumer} was not confirmed by ${broker}. ` +
      'Nothing was settled: the source keeps the message. Check that the target exists and has room.',
    { broker, details: { consumer, id, copy }, cause },
  );
}

/** `what`: the decision that was dropped. */
export function settleStale(at: {
  readonly broker: string;
  readonly consumer: string;
  readonly what: string;
  readonly id?: string;
}): MessagingError {
  const { broker, consumer, what, id } = at;
  const message = id === undefined ? 'a message' : `message ${id}`;
  return new MessagingError(
    'MSG_SETTLE_STALE',
    `The decision "${what}" on ${message} of consumer ${consumer} came after its session or lease ` +
      `on ${broker} had ended and was not sent. The message comes again; the Inbox absorbs it.`,
    { broker, details: { consumer, what, id } },
  );
}

export function parkUnreadable(at: {
  readonly reason: string;
  readonly id?: string;
  readonly cause?: unknown;
}): MessagingError {
  const id = at.id === undefined ? 'A message' : `Message ${at.id}`;
  return new MessagingError(
    'MSG_PARK_UNREADABLE',
    `${id} of the parking lot has no readable record: ${at.reason}. ` +
      'It was not written by this library, or its headers were changed: take it out by hand.',
    { details: { reason: at.reason, id: at.id }, cause: at.cause },
  );
}

/** `left`: what was still open, in words. */
export function shutdownDeadline(at: {
  readonly timeoutMs: number;
  readonly left: readonly string[];
}): MessagingError {
  return new MessagingError(
    'MSG_SHUTDOWN_DEADLINE',
    `close() did not end within ${at.timeoutMs} ms and left behind: ${at.left.join(', ')}. ` +
      'What was not settled comes again elsewhere. Raise the timeout or shorten the handlers.',
    { details: { timeoutMs: at.timeoutMs, left: at.left } },
  );
}
