import type { Evidence } from './check.ts';

/** I12. Every publish has an outcome, and no promise was rejected without anybody waiting for it. */
export function settled({ history, lostPromises }: Evidence): readonly string[] {
  const ended = new Set(history.of('outcome').map(({ id }) => id));
  const open = history.of('sent').filter(({ id }) => !ended.has(id));
  return [
    ...open.map(({ id }) => `the publish of ${id} never settled`),
    ...lostPromises.map((text) => `unhandled rejection: ${text}`),
  ];
}
