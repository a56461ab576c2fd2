import { OUTBOX_SLOTS, type OutboxMessage, storeDuplicateId } from '@ackord/core/store';
import { STORE } from './memory-store-error.ts';
import { rowKey } from './tables.ts';
import type { Transaction } from './transaction.ts';

/** Writes rows that others see at commit. Runs as a statement of the transaction. */
export async function addOutboxRows(
  transaction: Transaction,
  messages: readonly OutboxMessage[],
): Promise<void> {
  for (const message of messages) await addRow(transaction, message);
}

async function addRow(transaction: Transaction, message: OutboxMessage): Promise<void> {
  const { database, overlay } = transaction;
  const { outbox, outboxIds } = database.tables;
  const { messageId, body, headers } = message;
  const id = outboxId(message);
  // Whoever writes the same id waits for this transaction to end.
  await transaction.lock(`outbox ${id}`);
  if (overlay.has(`outbox ${id}`) || outboxIds.has(id)) {
    throw storeDuplicateId({ store: STORE, id: messageId });
  }
  overlay.set(`outbox ${id}`, true);
  const row = {
    ...message,
    body: new Uint8Array(body),
    headers: { ...headers },
    seq: database.nextSeq(),
    slot: slotOf(message.key ?? messageId),
    createdAtMs: database.clock.now(),
  };
  transaction.write(() => {
    outbox.set(row.seq, { row });
    outboxIds.add(id);
  });
}

/** A message is written once per broker and target. */
export function outboxId({ messageId, broker, target }: OutboxMessage): string {
  return rowKey(messageId, broker, target);
}

/** 32-bit FNV-1a over the UTF-8 bytes, modulo the number of slots. */
function slotOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0) % OUTBOX_SLOTS;
}
