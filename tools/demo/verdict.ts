import type { Tally } from './tally.ts';

/** Ids that are named before the rest is only counted. */
const SHOWN = 5;

/** Invariants that do not hold, in words; empty when all hold. */
export function broken(tally: Tally, dead: Dead | undefined): readonly string[] {
  const { lost, doubled, doubleEffects, lateness, stockDrift, outboxLeft, endedTwice } = tally;
  const found: string[] = [];
  if (lost.length > 0) found.push(`lost: ${lost.length} ended nowhere: ${some(lost)}`);
  if (doubleEffects > 0) {
    found.push(`double effects: ${doubleEffects}, of ${some(doubled)}`);
  }
  if (endedTwice.length > 0) found.push(`ended and parked as well: ${some(endedTwice)}`);
  if (lateness !== undefined && lateness.earliestMs < 0) {
    found.push(`a retry ran ${-lateness.earliestMs} ms before it was due`);
  }
  if (stockDrift.length > 0) {
    found.push(`reserved pieces are not the sum of the reservations: ${some(stockDrift)}`);
  }
  if (outboxLeft > 0) found.push(`${outboxLeft} rows are left in the outbox`);
  if (dead?.effects === 0) found.push(`the killed consumer's commit of ${dead.messageId} is gone`);
  return found;
}

/** The message that a killed consumer had committed and not acked, and its effects at the end. */
export interface Dead {
  readonly messageId: string;
  readonly effects: number;
}

function some(ids: readonly string[]): string {
  const rest = ids.length - SHOWN;
  return ids.slice(0, SHOWN).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
