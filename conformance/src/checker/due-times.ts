import type { Evidence } from './check.ts';

/** I6. No run before the due time that was told, nor sooner after the run before than the policy says. */
export function dueTimes({ history, consumers }: Evidence): readonly string[] {
  const retried = history.events('message.retried');
  const runs = history.of('run');
  return runs.flatMap((run) => {
    if (run.attempt < 2) return [];
    const due = retried.find(
      (event) =>
        event.messageId === run.id &&
        event.consumer === run.consumer &&
        event.attempt === run.attempt - 1,
    );
    const dueAtMs = Number(due?.['dueAtMs'] ?? 0);
    const before = runs.find(
      ({ id, consumer, attempt }) =>
        id === run.id && consumer === run.consumer && attempt === run.attempt - 1,
    );
    const delays = consumers.find(({ name }) => name === run.consumer)?.delaysMs ?? [];
    const delayMs = delays[Math.min(run.attempt - 1, delays.length) - 1] ?? 0;
    const earliestMs = Math.max(dueAtMs, before === undefined ? 0 : before.atMs + delayMs);
    if (run.atMs >= earliestMs) return [];
    return [
      `run ${run.attempt} of ${run.id} at ${run.consumer} began ${earliestMs - run.atMs} ms early`,
    ];
  });
}
