import { expect, test } from 'vitest';
import { compare, isVoid, median, type Pair } from '../compare.ts';
import type { Figures } from '../meter.ts';
import { table } from '../table.ts';

const figures = (micros: number, extra: Partial<Figures> = {}): Figures => ({
  messages: 10,
  userMicros: micros * 8,
  systemMicros: micros * 2,
  wallMs: micros,
  lost: 0,
  doubled: 0,
  ...extra,
});
const pair = (raw: number, again: number, ours: number): Pair => ({
  raw: figures(raw),
  again: figures(again),
  ours: figures(ours),
});

test('the ratio is the median of ours against the mean of both hand-written runs', () => {
  const found = compare('publish', [pair(10, 10, 15), pair(9, 11, 16), pair(10, 10, 90)]);
  expect(found).toMatchObject({ pairs: 3, rawMicros: 10, oursMicros: 16, ratio: 1.6, pass: true });
  expect(found.rawRate).toBe(1_000);
});

test('the band is the median distance of the two hand-written runs', () => {
  const found = compare('publish', [pair(9, 11, 10), pair(10, 10.5, 10), pair(8, 12, 10)]);
  expect(found.band).toBeCloseTo(0.2);
  expect(found.bandMicros).toBeCloseTo(2);
});

test('a ratio over its limit passes within the band only', () => {
  expect(compare('publish', [pair(9.5, 10.5, 18.5)]).pass).toBe(true);
  expect(compare('publish', [pair(10, 10, 18.5)]).pass).toBe(false);
});

test("core's gate is a difference in µs", () => {
  expect(compare('core', [pair(10, 10, 19)]).pass).toBe(true);
  expect(compare('core', [pair(10, 10, 21)]).pass).toBe(false);
});

test('what has no gate is information', () => {
  expect(compare('consume', [pair(1, 1, 9)]).pass).toBeUndefined();
  expect(table([compare('consume', [pair(1, 1, 9)])])).toContain('information');
});

test('one lost or doubled message makes a trial void', () => {
  expect(isVoid(figures(1))).toBe(false);
  expect(isVoid(figures(1, { lost: 1 }))).toBe(true);
  expect(isVoid(figures(1, { doubled: 1 }))).toBe(true);
});

test('the median of an even number of values is between the middle ones', () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
});

test('the table shows both figures, the ratio, the band and the verdict', () => {
  const text = table([compare('publish', [pair(10, 10, 30)])]);
  expect(text).toMatch(
    /publish +10\.0 +30\.0 +3\.00x +20\.0 +0\.0 % +1000 +333 +<= 1\.8x \+ band +OVER/,
  );
});
