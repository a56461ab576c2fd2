import { expect, it } from 'vitest';
import type { Tally } from '../../demo/tally.ts';
import { broken } from '../../demo/verdict.ts';

const good: Tally = {
  lines: 3,
  ordersIn: 3,
  injected: { again: 0, older: 0, bad: 0 },
  effects: 3,
  rejections: 0,
  parked: [],
  parkedAgain: 0,
  endedTwice: [],
  duplicatesDropped: 1,
  retries: 1,
  retriesBy: 'broker',
  lateness: { count: 1, earliestMs: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 },
  lost: [],
  doubled: [],
  doubleEffects: 0,
  stockDrift: [],
  outboxLeft: 0,
};

it('finds nothing in a good run', () => {
  expect(broken(good, { messageId: 'm', effects: 1 })).toEqual([]);
});

it.each<[string, Partial<Tally>, RegExp]>([
  ['a lost message', { lost: ['o-1'] }, /lost: 1 ended nowhere: o-1/],
  ['a doubled effect', { doubled: ['o-1'], doubleEffects: 2 }, /double effects: 2, of o-1/],
  ['an effect of a parked message', { endedTwice: ['o-1'] }, /parked as well: o-1/],
  [
    'a retry before its time',
    { lateness: { count: 1, earliestMs: -7, p50Ms: 0, p99Ms: 0, maxMs: 0 } },
    /7 ms before it was due/,
  ],
  ['stock that does not add up', { stockDrift: ['pen-1'] }, /not the sum.*pen-1/],
  ['outbox rows that were not sent', { outboxLeft: 4 }, /4 rows/],
])('finds %s', (_, wrong, text) => {
  expect(broken({ ...good, ...wrong }, undefined)).toEqual([expect.stringMatching(text)]);
});

it('finds a committed effect that is gone', () => {
  expect(broken(good, { messageId: 'm', effects: 0 })).toEqual([
    expect.stringMatching(/commit of m is gone/),
  ]);
});

it('names five ids and counts the others', () => {
  const [text] = broken({ ...good, lost: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }, undefined);
  expect(text).toMatch(/a, b, c, d, e and 2 more$/);
});
