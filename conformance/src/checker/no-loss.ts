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
  const ended = endsOf(evidence);
  const outbox = new Set(evidence.outbox);
  const lost = owed.flatMap(({ id, atMs }) =>
    at
      .filter(
        ({ sinceMs, name }) => sinceMs <= atMs && !outbox.has(id) && !ended.has(key(name, id)),
      )
      .map(({ name }) => `${id} is lost for ${name}: no Inbox row, not parked, not at the broker`),
  );
  return [...lost, ...withoutEffect(evidence)];
}

/** Every message with every consumer at which something shows what became of it. */
function endsOf({ inbox, kept, parked, history, consumers }: Evidence): ReadonlySet<string> {
  const ended = new Set(inbox.map(({ consumer, messageId }) => key(consumer, messageId)));
  for (const [consumer, messages] of [...kept, ...parked]) {
    for (const { id } of messages) if (id !== undefined) ended.add(key(consumer, id));
  }
  const byName = new Map(consumers.map((consumer) => [consumer.name, consumer]));
  for (const { event } of history.of('event')) {
    const { messageId, consumer = '' } = event;
    if (messageId === undefined || !ENDS.has(event.event)) continue;
    if (isEnd(event.event, byName.get(consumer))) ended.add(key(consumer, messageId));
  }
  return ended;
}

/** With an Inbox, an effect or a result must have left its row. */
function isEnd(event: string, consumer: Consumer | undefined): boolean {
  return event === 'message.unhandled' || consumer?.inbox === false;
}

/** An Inbox row stands for an effect that was committed with it. */
function withoutEffect({ inbox, effects, consumers, history }: Evidence): readonly string[] {
  const writers = new Set(consumers.filter((consumer) => consumer.effects).map(({ name }) => name));
  const acts = new Map(history.of('run').map((run) => [key(run.consumer, run.id), run.act]));
  const found = new Set(effects.map(({ consumer, messageId }) => key(consumer, messageId)));
  return inbox
    .filter(({ consumer, outcome }) => outcome === 'applied' && writers.has(consumer))
    .filter(({ consumer, messageId }) => {
      const at = key(consumer, messageId);
      return acts.get(at) !== 'business' && !found.has(at);
    })
    .map(
      ({ consumer, messageId }) =>
        `the effect of ${messageId} at ${consumer} is lost, its Inbox row is there`,
    );
}

const key = (consumer: string, id: string): string => `${consumer} ${id}`;
