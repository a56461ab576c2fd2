import { expect, it } from 'vitest';
import { Observations } from '../../demo/observations.ts';

it('sets each run against the due time of its retry', () => {
  const seen = new Observations();
  for (const [id, lateMs] of [
    ['a', 3],
    ['b', 1],
    ['c', 20],
  ] as const) {
    seen.add({ saw: 'run', id, attempt: 1, atMs: 0 });
    seen.add({ saw: 'retry', id, attempt: 1, dueAtMs: 1_000 });
    seen.add({ saw: 'run', id, attempt: 2, atMs: 1_000 + lateMs });
  }
  expect(seen.lateness()).toEqual({ count: 3, earliestMs: 1, p50Ms: 3, p99Ms: 20, maxMs: 20 });
  expect(seen.retries).toBe(3);
});

it('shows a run before its due time as a negative lateness', () => {
  const seen = new Observations();
  seen.add({ saw: 'retry', id: 'a', attempt: 1, dueAtMs: 1_000 });
  seen.add({ saw: 'run', id: 'a', attempt: 2, atMs: 990 });
  expect(seen.lateness()?.earliestMs).toBe(-10);
});

it('has no lateness without a retry', () => {
  expect(new Observations().lateness()).toBeUndefined();
});
