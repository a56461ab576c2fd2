import type { Entry } from '../history/entry.ts';
import type { Evidence } from './check.ts';

/** Steps after which the outcome of a delivery is durable. */
const DURABLE = new Set(['commit.after', 'retry.copy.confirmed', 'park.copy.confirmed']);
/** Decisions that nothing is to be done. */
const NOTHING = new Set([
  'message.duplicate',
  'message.stale',
  'message.expired',
  'message.unhandled',
  'message.applied',
  'message.rejected',
]);

/** I3. Before each ack of a delivery stands its durable outcome, in the same process. */
export function ackAfterDurable({ history }: Evidence): readonly string[] {
  const durable = new Set<string>();
  const early: string[] = [];
  for (const entry of history.entries) {
    const key = keyOf(entry);
    if (key === undefined) continue;
    if (entry.what === 'step' && entry.step === 'ack.before') {
      if (!durable.has(key))
        early.push(
          `${entry.who} acks ${entry.id} of ${entry.consumer} before its outcome is durable`,
        );
    } else if (isDurable(entry)) durable.add(key);
  }
  return early;
}

function isDurable(entry: Entry): boolean {
  if (entry.what === 'step') return DURABLE.has(entry.step);
  return entry.what === 'event' && NOTHING.has(entry.event.event);
}

function keyOf(entry: Entry): string | undefined {
  // An ack is told under the native id, which foreign messages may lack.
  if (entry.what === 'step' && entry.id === '') return undefined;
  if (entry.what === 'step') return `${entry.who} ${entry.consumer} ${entry.id}`;
  if (entry.what !== 'event' || entry.event.messageId === undefined) return undefined;
  return `${entry.who} ${entry.event.consumer} ${entry.event.messageId}`;
}
