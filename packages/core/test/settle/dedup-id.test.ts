import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  deferDedupId,
  firstDedupId,
  parkDedupId,
  redriveDedupId,
  retryDedupId,
  shortenId,
} from '../../src/settle/dedup-id.ts';

it('has another id for each copy, and the same for a repeated send of one', () => {
  const copies = [
    firstDedupId('m1'),
    retryDedupId('m1', 'c', 0, 2),
    retryDedupId('m1', 'c', 0, 3),
    retryDedupId('m1', 'other', 0, 2),
    retryDedupId('m1', 'c', 1, 2),
    deferDedupId('m1', 'c', 0, 2, 1),
    deferDedupId('m1', 'c', 0, 2, 2),
    parkDedupId('m1', 'c', 0),
    parkDedupId('m1', 'c', 1),
    redriveDedupId('m1', 'c', 1),
    redriveDedupId('m1', 'c', 2),
  ];
  expect(copies).toEqual([
    'm1',
    'm1:c:c0a2',
    'm1:c:c0a3',
    'm1:other:c0a2',
    'm1:c:c1a2',
    'm1:c:c0a2d1',
    'm1:c:c0a2d2',
    'm1:c:c0p',
    'm1:c:c1p',
    'm1:c:r1',
    'm1:c:r2',
  ]);
  expect(new Set(copies).size).toBe(copies.length);
});

it('keeps short ids and hashes long ones, equal for equal and different for different', () => {
  expect(shortenId('m1:c:c0a2', 128)).toBe('m1:c:c0a2');
  const long = 'x'.repeat(200);
  const short = shortenId(long, 128);
  expect(short).toMatch(/^x{95}~[0-9a-f]{32}$/);
  expect(shortenId(long, 128)).toBe(short);
  expect(shortenId(`${long}y`, 128)).not.toBe(short);
});

it('fits the limit in bytes, whatever the id', () => {
  const ids = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(ids, fc.integer({ min: 16, max: 255 }), (id, max) => {
      const short = shortenId(id, max);
      expect(Buffer.byteLength(short)).toBeLessThanOrEqual(max);
      expect(short.isWellFormed()).toBe(true);
      if (Buffer.byteLength(id) <= max) expect(short).toBe(id);
    }),
  );
});
