import fc from 'fast-check';
import { expect, it } from 'vitest';
import { headerText } from '../../src/driver/header-text.ts';

it.each([
  ['text', 'text'],
  [5, '5'],
  [5n, '5'],
  [true, 'true'],
  [null, 'null'],
  [undefined, 'undefined'],
  [new TextEncoder().encode('é'), 'é'],
  [[{ count: 1 }], '[{"count":1}]'],
  [{ at: 5n }, '{"at":"5"}'],
])('reads %o as %j', (value, text) => {
  expect(headerText(value)).toBe(text);
});

it('never throws', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  expect(headerText(circle)).toBe('[object Object]');
  fc.assert(
    fc.property(fc.anything({ withBigInt: true }), (value) => {
      expect(typeof headerText(value)).toBe('string');
    }),
  );
});
