import { expect, it } from 'vitest';
import { createMessageId } from '../../src/envelope/message-id.ts';
import { seededRandom } from '../../src/time/seeded-random.ts';

const FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

it('is a UUID of version 7 that begins with its time', () => {
  const nowMs = Date.UTC(2026, 6, 21, 9);
  for (const id of [createMessageId(nowMs), createMessageId(nowMs, seededRandom(1))]) {
    expect(id).toMatch(FORM);
    expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(nowMs);
  }
});

it('is equal for an equal source of chance, and different otherwise', () => {
  expect(createMessageId(0, seededRandom(1))).toBe(createMessageId(0, seededRandom(1)));
  const ids = new Set(Array.from({ length: 10_000 }, () => createMessageId(0)));
  expect(ids.size).toBe(10_000);
});

it('sorts by time', () => {
  const times = [0, 1, 255, 1_700_000_000_000, 1_700_000_000_001, 2 ** 47];
  const ids = times.map((ms) => createMessageId(ms));
  expect(ids.toSorted()).toEqual(ids);
});
