import { expect, it } from 'vitest';
import { seededRandom } from '../../src/time/seeded-random.ts';

const draw = (seed: number, count: number): readonly number[] => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => random());
};

it('repeats its numbers for the same seed, and only for that', () => {
  expect(draw(7, 20)).toEqual(draw(7, 20));
  expect(draw(7, 20)).not.toEqual(draw(8, 20));
});

it('stays in [0, 1) and spreads evenly', () => {
  const numbers = draw(42, 10_000);
  expect(numbers.every((n) => n >= 0 && n < 1)).toBe(true);
  const mean = numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.01);
});
