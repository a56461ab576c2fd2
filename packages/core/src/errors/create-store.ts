import { MessagingError } from './messaging-error.ts';

export function storeSchema(at: {
  readonly store: string;
  readonly expected: string;
  readonly actual: string;
  readonly fix?: string;
  readonly cause?: unknown;
}): MessagingError {
  const { store, expected, actual, cause } = at;
  return new MessagingError(
    'MSG_STORE_SCHEMA',
    `The tables of ${store} are not those of this version: expected ${expected}, found ${actual}. ` +
      (at.fix ?? 'Run the migrations before the start.'),
    { broker: store, details: { expected, actual }, cause },
  );
}

export function storeCommitRefused(at: {
  readonly store: string;
  readonly answer?: string;
  readonly cause?: unknown;
}): MessagingError {
  return new MessagingError(
    'MSG_STORE_COMMIT_REFUSED',
    `${at.store} answered COMMIT with ${at.answer ?? 'ROLLBACK'}: nothing was stored, because an ` +
      'earlier statement had failed and its error was swallowed. Let SQL errors leave the handler.',
    { broker: at.store, details: { answer: at.answer }, cause: at.cause },
  );
}

export function storeCommitUnknown(at: {
  readonly store: string;
  readonly cause?: unknown;
}): MessagingError {
  return new MessagingError(
    'MSG_STORE_COMMIT_UNKNOWN',
    `The connection to ${at.store} was lost before COMMIT was answered: it may or may not have ` +
      'happened. The message is not acked; the Inbox row decides when it comes again.',
    { broker: at.store, cause: at.cause },
  );
}

export function storeDuplicateId(at: {
  readonly store: string;
  readonly id: string;
  readonly cause?: unknown;
}): MessagingError {
  return new MessagingError(
    'MSG_STORE_DUPLICATE_ID',
    `The outbox of ${at.store} holds message ${at.id} for the same target already. ` +
      'Add each draft once; another fact needs another id.',
    { broker: at.store, details: { id: at.id }, cause: at.cause },
  );
}

/** `what`: the call that came too late, for example "outbox.add"; `why`: what ended it. */
export function storeTxEnded(at: {
  readonly what?: string;
  readonly store?: string;
  readonly why?: string;
}): MessagingError {
  const { what = 'A statement', store, why } = at;
  return new MessagingError(
    'MSG_STORE_TX_ENDED',
    `${what} came after its transaction had ended${why ? ` (${why})` : ''}: nothing was done. ` +
      'Await every call inside the handler, and stop when its signal aborts.',
    { broker: store, details: { what, why } },
  );
}

export function storeUnavailable(at: {
  readonly store: string;
  readonly cause?: unknown;
}): MessagingError {
  return new MessagingError(
    'MSG_STORE_UNAVAILABLE',
    `${at.store} could not be reached or did not answer in time. ` +
      'Nothing was recorded; the work is repeated when it is back.',
    { broker: at.store, cause: at.cause },
  );
}
