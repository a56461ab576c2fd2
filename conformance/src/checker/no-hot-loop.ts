import type { Evidence } from './check.ts';

const WINDOW_MS = 1_000;
const CONNECTS = new Set(['connection.opened', 'connection.failed']);

/** I10. Bounded hand-overs of a message and bounded connects of a bus, within any second. */
export function noHotLoop({ history, limits }: Evidence): readonly string[] {
  const times = new Map<string, number[]>();
  const note = (key: string, atMs: number): void => {
    const list = times.get(key) ?? [];
    times.set(key, list);
    list.push(atMs);
  };
  for (const { id, consumer, atMs } of history.steps('received'))
    note(`hand-overs of ${id} to ${consumer}`, atMs);
  for (const { event, atMs, who } of history.of('event')) {
    if (CONNECTS.has(event.event)) note(`connects of ${who}`, atMs);
  }
  return [...times].flatMap(([key, list]) => {
    const limit = key.startsWith('connects')
      ? limits.connectsPerSecond
      : limits.deliveriesPerSecond;
    const most = mostWithin(list, WINDOW_MS);
    return most > limit ? [`${most} ${key} within a second, ${limit} are allowed`] : [];
  });
}

function mostWithin(unsorted: readonly number[], windowMs: number): number {
  const times = unsorted.toSorted((a, b) => a - b);
  let most = 0;
  let from = 0;
  for (const [to, atMs] of times.entries()) {
    while (atMs - (times[from] ?? atMs) >= windowMs) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}
