import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { event } from '../../src/contract/contract.ts';
import { MessagingError } from '../../src/errors/messaging-error.ts';
import { describeError } from '../../src/failure/describe-error.ts';
import {
  BusinessRejection,
  carriedFailure,
  isBusinessRejection,
  permanent,
  transient,
} from '../../src/failure/failures.ts';

const Rejected = event('order.rejected', {
  version: 1,
  destination: 'orders',
  data: z.object({ orderId: z.string() }),
});

it('carries class, delay and cause on an error', () => {
  const cause = new TypeError('busy');
  const error = transient(cause, { retryAfter: '2m' });
  expect(error).toBeInstanceOf(Error);
  expect([error.name, error.message, error.cause]).toEqual(['TransientError', 'busy', cause]);
  expect(carriedFailure(error)).toEqual({ failure: 'transient', retryAfterMs: 120_000 });
  expect(carriedFailure(permanent('no such order'))).toEqual({ failure: 'permanent' });
  expect(permanent('no such order').message).toBe('no such order');
  expect(() => transient('x', { retryAfter: 'soon' as '1s' })).toThrow('Option retryAfter');
});

it('finds no class on other values', () => {
  for (const value of [undefined, null, 'x', {}, new Error('x')]) {
    expect(carriedFailure(value)).toBeUndefined();
  }
});

it('holds the events of a business result as a list', () => {
  const draft = Rejected({ orderId: '42' });
  expect(new BusinessRejection(draft).events).toEqual([draft]);
  expect(new BusinessRejection([draft, draft], 'out of stock')).toMatchObject({
    events: [draft, draft],
    message: 'out of stock',
  });
});

it('is understood across two copies of core', async () => {
  vi.resetModules();
  const other = await import('../../src/failure/failures.ts');
  expect(carriedFailure(other.permanent('x'))).toEqual({ failure: 'permanent' });
  const rejection = new other.BusinessRejection([]);
  expect(rejection).not.toBeInstanceOf(BusinessRejection);
  expect(isBusinessRejection(rejection)).toBe(true);
  expect(isBusinessRejection(new Error('x'))).toBe(false);
  expect(isBusinessRejection(undefined)).toBe(false);
});

class Awkward extends Error {
  override get message(): string {
    throw new Error('no');
  }
}
const coded = Object.assign(new RangeError('gone'), { code: 'ECONNRESET' });
it.each([
  [coded, { type: 'RangeError', code: 'ECONNRESET', text: 'gone' }],
  [transient(coded), { type: 'RangeError', code: 'ECONNRESET', text: 'gone' }],
  [permanent('no'), { type: 'PermanentError', text: 'no' }],
  [
    new MessagingError('MSG_CONFIG_INVALID', 'x'),
    { type: 'MessagingError', code: 'MSG_CONFIG_INVALID', text: 'x' },
  ],
  ['text', { type: 'string', text: 'text' }],
  [undefined, { type: 'undefined', text: 'undefined' }],
  [{ code: 7 }, { type: 'object', code: '7', text: '[object Object]' }],
  [Object.create(null), { type: 'object', text: 'an error that cannot be shown as text' }],
  [new Awkward(), { type: 'object', text: 'an error that cannot be shown as text' }],
  [new Error('x'.repeat(1_048_576)), { type: 'Error', text: 'x'.repeat(512) }],
])('describes %#', (error, described) => {
  expect(describeError(error)).toEqual(described);
});
