import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Duration, parseDuration } from '../../src/time/duration.ts';

it.each<[Duration, number]>([
  [0, 0],
  [1_500, 1_500],
  [0.2, 1],
  ['250ms', 250],
  ['5s', 5_000],
  ['1.5s', 1_500],
  ['15m', 900_000],
  ['0.27m', 16_200],
  ['4.03s', 4_030],
  ['12h', 43_200_000],
  ['7d', 604_800_000],
  ['1.0001ms', 2],
])('reads %s as %i ms, rounded up', (value, ms) => {
  expect(parseDuration(value, 'x')).toBe(ms);
});

it.each([
  '5',
  '5 s',
  's',
  '',
  '-5s',
  '5S',
  '5sec',
  '1e3s',
  '5s5m',
  '.5s',
  '999999999999999999d',
  -1,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2 ** 60,
  null,
  undefined,
  {},
  ['5s'],
])('refuses %s and names option and forms', (value) => {
  const parse = (): number => parseDuration(value as Duration, 'retry.delays[1]');
  expect(parse).toThrowError(
    expect.objectContaining({
      code: 'MSG_CONFIG_INVALID',
      message: expect.stringMatching(/^Option retry\.delays\[1\] is .*"250ms", "5s", "15m"/),
    }),
  );
});

it('is never shorter than what was asked, and by at most a millisecond longer', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e12, noNaN: true }), (value) => {
      const ms = parseDuration(value, 'x');
      expect(ms).toBeGreaterThanOrEqual(value);
      expect(ms - value).toBeLessThanOrEqual(1);
    }),
  );
});
