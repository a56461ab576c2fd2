import type { SeenEvent } from '../history/entry.ts';
import type { Evidence, Rule } from './check.ts';

const DECIDED = new Set(['message.failed', 'message.applied', 'message.rejected']);

/** I7. Runs that ended in a decision, by message and consumer. */
const runs: Rule = ({ history, consumers, limits }) => {
  const counts = new Map<string, number>();
  for (const { event } of history.of('event')) {
    if (DECIDED.has(event.event)) counts.set(keyOf(event), (counts.get(keyOf(event)) ?? 0) + 1);
  }
  return [...counts].flatMap(([key, count]) => {
    const consumer = consumers.find(({ name }) => key.startsWith(`${name} `));
    const most = (consumer?.maxAttempts ?? Number.POSITIVE_INFINITY) + limits.extraRuns;
    return count > most ? [`${count} runs of ${key} ended in a decision, ${most} are allowed`] : [];
  });
};

/** I8. Nothing runs again after a permanent failure; a business result is neither retried nor parked. */
const permanent: Rule = ({ history, parked, inbox }) => {
  const problems: string[] = [];
  for (const { event } of history.of('event')) {
    if (event.event !== 'message.retried') continue;
    const before = history
      .events('message.failed', event.messageId)
      .find(
        ({ consumer, attempt, failure }) =>
          consumer === event.consumer && attempt === event.attempt && failure === 'permanent',
      );
    if (before) problems.push(`a permanent failure of ${keyOf(event)} was retried`);
  }
  for (const { consumer, messageId, outcome } of inbox) {
    if (outcome !== 'rejected') continue;
    if (parked.get(consumer)?.some(({ id }) => id === messageId)) {
      problems.push(`the business result of ${messageId} at ${consumer} was parked`);
    }
  }
  return problems;
};

/** I9. A run beyond the first belongs to a consumer that saw a failure, or whose process died. */
const onlyWhoFailed: Rule = (evidence) =>
  evidence.history.of('run').flatMap((run) => {
    if (run.attempt < 2 || hasFailed(evidence, run)) return [];
    return [`${run.consumer} got a retry of ${run.id} that it never failed`];
  });

function hasFailed({ history }: Evidence, at: { id: string; consumer: string }): boolean {
  return (
    history.of('died').length > 0 ||
    history.events('message.failed', at.id).some(({ consumer }) => consumer === at.consumer)
  );
}

export const budget: {
  readonly runs: Rule;
  readonly permanent: Rule;
  readonly onlyWhoFailed: Rule;
} = {
  runs,
  permanent,
  onlyWhoFailed,
};

const keyOf = ({ consumer, messageId }: SeenEvent): string => `${consumer} ${messageId}`;
