import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MessagingError } from '../../src/errors/messaging-error.ts';
import {
  type ClassifyOptions,
  classify,
  type FailureRule,
  until,
} from '../../src/failure/classify.ts';
import type { FailureClass } from '../../src/failure/failure-class.ts';
import { permanent, transient } from '../../src/failure/failures.ts';

const at: ClassifyOptions = { library: [], occurredAtMs: 0, nowMs: 1_000 };
const withCode = (code: string): Error => Object.assign(new Error('x'), { code });

it.each<[string, unknown, FailureClass]>([
  ['a plain error', new TypeError('x'), 'unknown'],
  ['a text', 'x', 'unknown'],
  ['nothing', undefined, 'unknown'],
  ['transient()', transient('x'), 'transient'],
  ['permanent()', permanent(withCode('ECONNRESET')), 'permanent'],
  ['a wrapped permanent()', new Error('x', { cause: permanent('y') }), 'permanent'],
  ['an own error', new MessagingError('MSG_PUBLISH_UNCONFIRMED', 'x'), 'transient'],
  ['an own permanent error', new MessagingError('MSG_CONTRACT_INVALID_DATA', 'x'), 'permanent'],
  ['an own error without class', new MessagingError('MSG_SETTLE_STALE', 'x'), 'unknown'],
  ['ECONNRESET', withCode('ECONNRESET'), 'transient'],
  ['ECONNREFUSED', withCode('ECONNREFUSED'), 'transient'],
  ['ETIMEDOUT', withCode('ETIMEDOUT'), 'transient'],
  ['EPIPE', withCode('EPIPE'), 'transient'],
  ['EAI_AGAIN', withCode('EAI_AGAIN'), 'transient'],
  [
    'UND_ERR_SOCKET under fetch failed',
    new TypeError('x', { cause: withCode('UND_ERR_SOCKET') }),
    'transient',
  ],
  ['ENOENT', withCode('ENOENT'), 'unknown'],
  ['an aborted signal', AbortSignal.abort().reason, 'transient'],
  ['a TimeoutError', new DOMException('x', 'TimeoutError'), 'transient'],
  ['status 429', { status: 429 }, 'transient'],
  ['status 502', { status: 502 }, 'transient'],
  ['statusCode 503', { statusCode: 503 }, 'transient'],
  ['response.status 504', { response: { status: 504 } }, 'transient'],
  ['status 400', { status: 400 }, 'permanent'],
  ['response.statusCode 422', { response: { statusCode: 422 } }, 'permanent'],
  ['status 401', { status: 401 }, 'unknown'],
  ['status 403', { status: 403 }, 'unknown'],
  ['status 404', { status: 404 }, 'unknown'],
  ['status 409', { status: 409 }, 'unknown'],
  ['status 500', { status: 500 }, 'unknown'],
  [
    'a 404 that was caused by a reset',
    Object.assign(new Error('x', { cause: withCode('EPIPE') }), { status: 404 }),
    'unknown',
  ],
])('%s', (_, error, failure) => {
  expect(classify(error, at)).toEqual({ failure });
});

it('asks carried class, then rules, then library, then unknown', () => {
  const rule: FailureRule = () => 'transient';
  const library = [(): FailureClass => 'permanent'];
  expect(classify(permanent('x'), { ...at, rules: [rule], library: [] }).failure).toBe('permanent');
  expect(classify('x', { ...at, rules: [rule], library }).failure).toBe('transient');
  expect(classify('x', { ...at, rules: [() => undefined], library }).failure).toBe('permanent');
  expect(classify(withCode('EPIPE'), { ...at, library }).failure).toBe('permanent');
  expect(classify('x', { ...at, library: [() => undefined] }).failure).toBe('unknown');
  const wrapped = Object.assign(new Error('x', { cause: transient('y') }), { status: 400 });
  expect(classify(wrapped, { ...at, rules: [() => 'permanent'] }).failure).toBe('permanent');
  expect(classify(wrapped, { ...at, library }).failure).toBe('transient');
});

it('looks for the library answer along the causes, as query builders wrap the error', () => {
  const library = [
    (error: unknown): FailureClass | undefined =>
      (error as { code?: string }).code === '40P01' ? 'transient' : undefined,
  ];
  const wrapped = new Error('query', { cause: new Error('x', { cause: withCode('40P01') }) });
  expect(classify(wrapped, { ...at, library }).failure).toBe('transient');
});

it('takes a rule or classifier that throws, or answers nonsense, for no answer', () => {
  const bad = (): FailureClass => {
    throw new Error('rule');
  };
  const odd = (() => Promise.resolve('permanent')) as unknown as FailureRule;
  const options = { ...at, rules: [bad, odd, (): FailureClass => 'permanent'], library: [bad] };
  expect(classify('x', options)).toEqual({ failure: 'permanent' });
  expect(classify('x', { ...at, rules: [bad], library: [bad] })).toEqual({ failure: 'unknown' });
});

it('never throws, whatever was thrown', () => {
  const ring = new Error('ring');
  ring.cause = ring;
  const hostile = new Proxy(
    {},
    {
      get() {
        throw new Error('trap');
      },
    },
  );
  expect(classify(ring, at)).toEqual({ failure: 'unknown' });
  expect(classify(hostile, at)).toEqual({ failure: 'unknown' });
  fc.assert(
    fc.property(fc.anything(), (error) => {
      expect(classify(error, at).failure).toMatch(/^(transient|permanent|unknown)$/);
    }),
  );
});

const http = (value: unknown, status = 503): unknown => ({
  status,
  headers: { 'retry-after': value },
});
it.each([
  ['seconds as text', http('120'), 120_000],
  ['seconds as number', http(1.5), 1_500],
  ['a date', http(new Date(61_000).toUTCString()), 60_000],
  ['Headers', { status: 429, headers: new Headers({ 'Retry-After': '7' }) }, 7_000],
  [
    'a Response',
    { response: new Response('', { status: 503, headers: { 'retry-after': '7' } }) },
    7_000,
  ],
  [
    'the header of a response',
    { response: { status: 503, headers: { 'Retry-After': '7' } } },
    7_000,
  ],
  ['more than a day', http('999999'), 86_400_000],
  ['more than a number holds', http('1e400'), 86_400_000],
  ['a carried delay', transient('x', { retryAfter: '3s' }), 3_000],
  ['the longer of two', transient(http('9'), { retryAfter: '3s' }), 9_000],
  ['a past date', http(new Date(0).toUTCString()), undefined],
  ['a negative number', http('-5'), undefined],
  ['zero', http('0'), undefined],
  ['garbage', http('soon'), undefined],
  ['nothing', http(''), undefined],
  ['a list', http(['5']), undefined],
])('reads Retry-After from %s', (_, error, retryAfterMs) => {
  expect(classify(error, at).retryAfterMs).toBe(retryAfterMs);
});

it('gives a permanent failure no delay', () => {
  expect(classify(http('5', 400), at)).toEqual({ failure: 'permanent' });
});

it('is transient until a time after occurred_at, then permanent', () => {
  const rule = until('15m', (error) => error === 'customer not found');
  const ask = (nowMs: number, error = 'customer not found'): FailureClass =>
    classify(error, { rules: [rule], library: [], occurredAtMs: 1_000, nowMs }).failure;
  expect(ask(1_000)).toBe('transient');
  expect(ask(900_999)).toBe('transient');
  expect(ask(901_000)).toBe('permanent');
  expect(ask(901_000, 'other')).toBe('unknown');
});
