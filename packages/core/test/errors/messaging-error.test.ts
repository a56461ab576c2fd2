import { expect, it, vi } from 'vitest';
import { describeValue } from '../../src/errors/describe-value.ts';
import { MessagingError } from '../../src/errors/messaging-error.ts';

it('is known by its brand and code', () => {
  const error = new MessagingError('MSG_CONNECT_CLOSED', 'gone', { broker: 'b' });
  expect(MessagingError.is(error)).toBe(true);
  expect(MessagingError.is(error, 'MSG_CONNECT_CLOSED')).toBe(true);
  expect(MessagingError.is(error, 'MSG_CONNECT_AUTH')).toBe(false);
  expect(error).toMatchObject({ name: 'MessagingError', failure: 'transient', broker: 'b' });
  expect(error.details).toEqual({});
});

it('is known across two copies of core, where instanceof fails', async () => {
  vi.resetModules();
  const other = await import('../../src/errors/messaging-error.ts');
  const error = new other.MessagingError('MSG_CONFIG_INVALID', 'x');
  expect(error).not.toBeInstanceOf(MessagingError);
  expect(MessagingError.is(error, 'MSG_CONFIG_INVALID')).toBe(true);
});

it.each([
  undefined,
  null,
  'MSG_CONFIG_INVALID',
  7,
  {},
  new Error('x'),
  { code: 'MSG_CONFIG_INVALID' },
])('takes %s for no error of its own', (value) => {
  expect(MessagingError.is(value)).toBe(false);
});

it('keeps the cause, and takes a class of its own over that of the code', () => {
  const cause = new Error('socket');
  const error = new MessagingError('MSG_CONNECT_CLOSED', 'x', { cause, failure: 'unknown' });
  expect([error.cause, error.failure]).toEqual([cause, 'unknown']);
});

const ring: { self?: unknown } = {};
ring.self = ring;
it.each([
  [undefined, 'nothing'],
  [null, 'null'],
  ['a"b', '"a\\"b"'],
  [7n, '7n'],
  [{ a: 1 }, '{"a":1}'],
  [ring, '[object Object]'],
  [parseInt, 'function parseInt'],
  ['amqps://user:p/w@host:5671/v', '"amqps://…@host:5671/v"'],
  [
    { user: 'u', password: 'hunter2', sasl: { authToken: 'x' } },
    '{"user":"u","password":"…","sasl":{"authToken":"…"}}',
  ],
  ['x'.repeat(1_000), `"${'x'.repeat(99)}…`],
])('shows %s in an error text as %s', (value, shown) => {
  expect(describeValue(value)).toBe(shown);
});
