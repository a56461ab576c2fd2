import type { FaultKind } from '@ackord/core/driver';

/** What the in-memory broker answers with; drivers classify it by `kind`. */
export class MemoryBrokerError extends Error {
  override readonly name = 'MemoryBrokerError';
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export function classifyMemoryError(error: unknown): FaultKind {
  return error instanceof MemoryBrokerError ? error.kind : 'unknown';
}
