import type { Consumer, Evidence } from './check.ts';

/** Events after which a message is done without a row in the Inbox. */
const ENDS = new Set([
  'message.unhandled',
  'message.expired',
  'message.applied',
  'message.rejected',
]);

/**
 * I1 and I4. A message that was confirmed, or whose outbox row was committed, is in the Inbox, in the
 * parking place, still at the broker or in the outbox: for each consumer that was there.
 */
export function noLoss(evidence: Evidence): readonly string[] {
  const { history, consumers, orders } = evidence;
  const owed = [
    ...history.of('outboxed'),
    ...history.of('outcome').filter(({ outcome }) => outcome === 'confirmed'),
  ];
  const at = consumers.filter(({ reads }) => reads === orders);
  const lost = owed.flatMap(({ id, atMs }) =>
    at
      .filter((consumer) => consumer.sinceMs <= atMs && !isSomewhere(evidence, id, consumer))
      .map(({ name }) => `${id} is lost for ${name}: no Inbox row, not parked, not at the broker`),
  );
  return [...lost, ...withoutEffect(evidence)];
}

/** An Inbox row stands for an effect that was committed with it. */
function withoutEffect({ inbox, effects, consumers, history }: Evidence): readonly string[] {
  return inbox.flatMap(({ consumer, messageId, outcome }) => {
    const writes = consumers.find(({ name }) => name === consumer)?.effects ?? false;
    if (outcome !== 'applied' || !writes) return [];
    const run = history.runs(messageId).findLast((each) => each.consumer === consumer);
    if (run?.act === 'business') return [];
    const found = effects.some(
      (effect) => effect.consumer === consumer && effect.messageId === messageId,
    );
    return found
      ? []
      : [`the effect of ${messageId} at ${consumer} is lost, its Inbox row is there`];
  });
}

function isSomewhere(evidence: Evidence, id: string, { name, inbox }: Consumer): boolean {
  if (evidence.outbox.includes(id)) return true;
  if (evidence.inbox.some((row) => row.consumer === name && row.messageId === id)) return true;
  for (const place of [evidence.kept.get(name), evidence.parked.get(name)]) {
    if (place?.some((message) => message.id === id)) return true;
  }
  return evidence.history.of('event').some(({ event }) => {
    if (event.messageId !== id || event.consumer !== name || !ENDS.has(event.event)) return false;
    // With an Inbox, an effect or a result must have left its row.
    return !inbox || event.event === 'message.unhandled';
  });
}
