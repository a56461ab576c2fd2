import { MessagingError, type StoreFailure } from '@ackord/core/store';

/** Name of the store in errors. */
export const STORE = 'memory';

/** An error as a database would raise it; a handler in a test may throw one, too. */
export class MemoryStoreError extends Error {
  override readonly name = 'MemoryStoreError';
  readonly kind: StoreFailure;

  constructor(kind: StoreFailure, message = `The in-memory store failed: ${kind}`) {
    super(message);
    this.kind = kind;
  }
}

export function classifyStoreError(error: unknown): StoreFailure | undefined {
  if (error instanceof MemoryStoreError) return error.kind;
  const down =
    MessagingError.is(error, 'MSG_STORE_COMMIT_UNKNOWN') ||
    MessagingError.is(error, 'MSG_STORE_UNAVAILABLE');
  return down ? 'down' : undefined;
}
