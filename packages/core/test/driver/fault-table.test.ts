import { expect, it } from 'vitest';
import { classifyBy, errorCode, type FaultRow } from '../../src/driver/fault-table.ts';

const ROWS: readonly FaultRow[] = [
  [404, undefined, 'missing'],
  [406, /size/, 'too-large'],
  [406, undefined, 'invalid'],
  [/^E[A-Z]+$/, undefined, 'connection'],
  [undefined, /credentials/, 'auth'],
];
const error = (code: unknown, message = '', cause?: unknown): Error =>
  Object.assign(new Error(message, { cause }), { code });

it.each([
  ['missing', error(404)],
  ['missing', error('404')],
  ['too-large', error(406, 'size 5')],
  ['invalid', error(406, 'else')],
  ['connection', error('ECONNRESET')],
  ['auth', error(undefined, 'bad credentials')],
  ['missing', error(undefined, 'wrapped', error(404))],
  ['unknown', error(405)],
  ['unknown', { code: 404 }],
  ['unknown', undefined],
] as const)('is %s (%#)', (kind, thrown) => {
  expect(classifyBy(ROWS, thrown)).toBe(kind);
});

it('finds a code that stands in the text only', () => {
  expect(classifyBy(ROWS, new Error('ended by server: 404'), /server: (\d+)/)).toBe('missing');
});

it('ends on a chain of causes that is a circle', () => {
  const thrown = new Error('round');
  thrown.cause = thrown;
  expect(classifyBy(ROWS, thrown)).toBe('unknown');
});

it.each([
  [error(5), '5'],
  [error('X'), 'X'],
  [error({}), undefined],
  [new Error('x'), undefined],
  [null, undefined],
])('reads the code of %#', (thrown, code) => {
  expect(errorCode(thrown)).toBe(code);
});
