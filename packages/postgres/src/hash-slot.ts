import { OUTBOX_SLOTS } from '@ackord/core/store';

const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * Slot of a lane key or message id: 32-bit FNV-1a over the UTF-8 bytes, modulo the number of
 * slots. Stored with each row, so it must never change.
 */
export function hashSlot(text: string): number {
  let hash = OFFSET_BASIS;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, PRIME);
  return (hash >>> 0) % OUTBOX_SLOTS;
}
