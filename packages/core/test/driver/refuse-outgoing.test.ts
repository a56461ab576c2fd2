import { expect, it } from 'vitest';
import type { Outgoing } from '../../src/driver/driver.ts';
import { refuseOutgoing, rejected } from '../../src/driver/refuse-outgoing.ts';

const limits = { bodyBytes: 10, bodySetting: 'max_size', mirrorBytes: 6 };
const outgoing = (body: number, mirror: Partial<Outgoing['mirror']> = {}): Outgoing => ({
  to: 'q:a',
  body: new Uint8Array(body),
  mirror: { id: '1', type: 't', contentType: 'a/b', ...mirror },
  headers: {},
  dedupId: '1',
});
const textOf = (item: Outgoing): string => {
  const outcome = refuseOutgoing(item, limits);
  return outcome?.is === 'rejected' ? `${outcome.kind} ${String(outcome.error)}` : 'passes';
};

it('lets a message at its limits pass', () => {
  expect(textOf(outgoing(10, { id: 'é'.repeat(3), correlationId: '123456' }))).toBe('passes');
});

it('refuses a body over the limit with its numbers', () => {
  expect(textOf(outgoing(11))).toMatch(/^too-large .*11 bytes for q:a .* 10 bytes of max_size/);
});

it.each(['id', 'type', 'correlationId', 'contentType'])('measures %s in bytes', (field) => {
  expect(textOf(outgoing(1, { [field]: 'ééé1' }))).toMatch(
    new RegExp(`^invalid .*${field} of 7 bytes for q:a is over the 6 bytes`),
  );
});

it('keeps the cause of a rejection', () => {
  const cause = new Error('raw');
  expect(rejected('throttled', 'full', cause)).toMatchObject({
    is: 'rejected',
    kind: 'throttled',
    error: { message: 'full', cause },
  });
});
