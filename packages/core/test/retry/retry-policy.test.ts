import { expect, it } from 'vitest';
import { createRetryPolicy, type RetryOptions } from '../../src/retry/retry-policy.ts';

it('has defaults', () => {
  expect(createRetryPolicy()).toEqual({
    delaysMs: [5_000, 30_000, 300_000],
    maxAttempts: 4,
    jitter: 0,
    unknownMaxAttempts: 2,
    crashes: 5,
  });
});

it('reads every option', () => {
  const options: RetryOptions = {
    delays: ['1s', 500],
    maxAttempts: 9,
    maxAge: '15m',
    maxElapsed: '1h',
    jitter: 0.2,
    unknown: { maxAttempts: 3 },
    crashes: 7,
  };
  expect(createRetryPolicy(options, 'r')).toEqual({
    delaysMs: [1_000, 500],
    maxAttempts: 9,
    maxAgeMs: 900_000,
    maxElapsedMs: 3_600_000,
    jitter: 0.2,
    unknownMaxAttempts: 3,
    crashes: 7,
  });
});

it('cannot be changed afterwards', () => {
  const policy = createRetryPolicy({ delays: ['1s'] });
  expect(Object.isFrozen(policy) && Object.isFrozen(policy.delaysMs)).toBe(true);
});

it.each([
  [{ delays: [] }, 'r.delays'],
  [{ delays: '5s' }, 'r.delays'],
  [{ delays: ['5s', 'x'] }, 'r.delays[1]'],
  [{ delays: [0] }, 'r.delays[0]'],
  [{ delays: Array(51).fill('1s') }, 'r.delays'],
  [{ maxAttempts: 0 }, 'r.maxAttempts'],
  [{ maxAttempts: 1.5 }, 'r.maxAttempts'],
  [{ maxAttempts: 10_001 }, 'r.maxAttempts'],
  [{ maxAge: '0s' }, 'r.maxAge'],
  [{ maxElapsed: -1 }, 'r.maxElapsed'],
  [{ jitter: 1.1 }, 'r.jitter'],
  [{ jitter: Number.NaN }, 'r.jitter'],
  [{ jitter: '0.2' }, 'r.jitter'],
  [{ unknown: { maxAttempts: 0 } }, 'r.unknown.maxAttempts'],
  [{ unknown: { attempts: 2 } }, 'r.unknown'],
  [{ unknown: 2 }, 'r.unknown'],
  [{ crashes: 0 }, 'r.crashes'],
  [{ maxAttemps: 3 }, 'r'],
  [null, 'r'],
  [['5s'], 'r'],
])('refuses %o and names %s', (options, option) => {
  expect(() => createRetryPolicy(options as RetryOptions, 'r')).toThrowError(
    expect.objectContaining({
      code: 'MSG_CONFIG_INVALID',
      details: expect.objectContaining({ option }),
    }),
  );
});
