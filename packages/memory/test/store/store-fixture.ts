import type { Claim, OutboxMessage, UnitOfWork } from '@ackord/core/store';
import type { MemoryStore } from '../../src/store/memory-store.ts';
import type { MemoryTx } from '../../src/store/memory-tx.ts';

export const never: AbortSignal = new AbortController().signal;

export function claim(messageId: string, more: Partial<Claim> = {}): Claim {
  return { consumer: 'reserve', messageId, guarded: false, ...more };
}

export function begin(
  store: MemoryStore,
  ...ids: readonly string[]
): Promise<UnitOfWork<MemoryTx>> {
  return store.inbox.begin(
    ids.map((id) => claim(id)),
    never,
  );
}

export function message(messageId: string, more: Partial<OutboxMessage> = {}): OutboxMessage {
  return {
    messageId,
    broker: 'memory',
    target: 'orders',
    destination: 'orders',
    type: 'order.created',
    dedupId: messageId,
    contentType: 'application/json',
    headers: {},
    body: new Uint8Array([1]),
    ...more,
  };
}

export const applied = { outcomes: [{ outcome: 'applied' }], outbox: [] } as const;

/** True while a promise is pending, after everything that can run has run. */
export async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const mark = (): void => {
    settled = true;
  };
  promise.then(mark, mark);
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
  return !settled;
}
