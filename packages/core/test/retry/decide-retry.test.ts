import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decideRetry, type FailedAttempt } from '../../src/retry/decide-retry.ts';
import { createRetryPolicy, type RetryPolicy } from '../../src/retry/retry-policy.ts';

const policy = createRetryPolicy({ delays: ['5s', '30s', '5m'], maxAttempts: 6 });
const failed: FailedAttempt = {
  failure: 'transient',
  attempt: 1,
  unknowns: 0,
  occurredAtMs: 0,
  firstFailedAtMs: 1_000,
  nowMs: 1_000,
  random: 0,
  hold: (wantMs) => wantMs,
};

it.each([
  [1, 5_000],
  [2, 30_000],
  [3, 300_000],
  [4, 300_000],
  [5, 300_000],
])('after attempt %i waits %i ms', (attempt, delayMs) => {
  expect(decideRetry(policy, { ...failed, attempt })).toEqual({
    step: 'retry',
    delayMs,
    dueAtMs: 1_000 + delayMs,
  });
});

it.each([
  ['permanent on the first attempt', { failure: 'permanent' }, 'permanent'],
  ['permanent on the last attempt', { failure: 'permanent', attempt: 6 }, 'permanent'],
  ['the last attempt', { attempt: 6 }, 'attempts'],
  ['more than the last attempt', { attempt: 7 }, 'attempts'],
  ['the second unknown', { failure: 'unknown', attempt: 2, unknowns: 2 }, 'unknown'],
  ['an unknown on the last attempt', { failure: 'unknown', attempt: 6, unknowns: 1 }, 'attempts'],
] as const)('parks %s', (_, change, reason) => {
  expect(decideRetry(policy, { ...failed, ...change })).toEqual({ step: 'park', reason });
});

it('counts only unknown failures against the budget of unknown ones', () => {
  const first = decideRetry(policy, { ...failed, failure: 'unknown', unknowns: 1 });
  const later = decideRetry(policy, { ...failed, attempt: 3, unknowns: 2 });
  expect([first.step, later.step]).toEqual(['retry', 'retry']);
});

it('lets jitter only add', () => {
  const jittery = { ...policy, jitter: 0.2 };
  expect(decideRetry(jittery, { ...failed, random: 0 })).toMatchObject({ delayMs: 5_000 });
  expect(decideRetry(jittery, { ...failed, random: 0.5 })).toMatchObject({ delayMs: 5_500 });
  expect(decideRetry(jittery, { ...failed, random: 0.999 })).toMatchObject({ delayMs: 5_999 });
});

it('waits longer when told so, and never shorter', () => {
  const wait = (retryAfterMs: number): unknown => decideRetry(policy, { ...failed, retryAfterMs });
  expect(wait(60_000)).toMatchObject({ delayMs: 60_000, dueAtMs: 61_000 });
  expect(wait(1)).toMatchObject({ delayMs: 5_000 });
});

it('takes the delay that can be held, and no shorter one', () => {
  const held = (hold: (ms: number) => number): unknown => decideRetry(policy, { ...failed, hold });
  expect(held(() => 7_000.2)).toMatchObject({ delayMs: 7_001, dueAtMs: 8_001 });
  expect(held(() => 1_000)).toMatchObject({ delayMs: 5_000, dueAtMs: 6_000 });
});

it.each([
  [{ maxAgeMs: 6_000 }, 'retry'],
  [{ maxAgeMs: 5_999 }, 'park'],
  [{ maxElapsedMs: 5_000 }, 'retry'],
  [{ maxElapsedMs: 4_999 }, 'park'],
] as const)('judges %o at the time the message would come back: %s', (limits, step) => {
  const decision = decideRetry({ ...policy, ...limits }, failed);
  expect(decision).toMatchObject(step === 'park' ? { step, reason: 'age' } : { step });
});

it('rounds up before it judges the age', () => {
  const limited = { ...policy, maxAgeMs: 8_000 };
  const hold = (): number => 10_000;
  expect(decideRetry(limited, failed).step).toBe('retry');
  expect(decideRetry(limited, { ...failed, hold })).toEqual({ step: 'park', reason: 'age' });
});

it('retries a backlog older than maxAge never, one within maxElapsed still', () => {
  const old = { ...failed, nowMs: 10_000_000, firstFailedAtMs: 10_000_000 };
  expect(decideRetry({ ...policy, maxAgeMs: 900_000 }, old).step).toBe('park');
  expect(decideRetry({ ...policy, maxElapsedMs: 900_000 }, old).step).toBe('retry');
});

const policies: fc.Arbitrary<RetryPolicy> = fc.record(
  {
    delaysMs: fc.array(fc.integer({ min: 1, max: 1e9 }), { minLength: 1, maxLength: 5 }),
    maxAttempts: fc.integer({ min: 1, max: 20 }),
    maxAgeMs: fc.integer({ min: 1, max: 1e10 }),
    maxElapsedMs: fc.integer({ min: 1, max: 1e10 }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
    unknownMaxAttempts: fc.integer({ min: 1, max: 20 }),
    crashes: fc.constant(5),
  },
  { requiredKeys: ['delaysMs', 'maxAttempts', 'jitter', 'unknownMaxAttempts', 'crashes'] },
);
const failures: fc.Arbitrary<FailedAttempt> = fc
  .record({
    failure: fc.constantFrom('transient', 'unknown', 'permanent'),
    attempt: fc.integer({ min: 1, max: 30 }),
    unknowns: fc.integer({ min: 0, max: 30 }),
    occurredAtMs: fc.integer({ min: 0, max: 1e12 }),
    ageMs: fc.integer({ min: 0, max: 1e9 }),
    random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    retryAfterMs: fc.nat({ max: 1e8 }),
    stepMs: fc.integer({ min: 1, max: 60_000 }),
  })
  .map(({ ageMs, stepMs, ...rest }) => ({
    ...rest,
    firstFailedAtMs: rest.occurredAtMs,
    nowMs: rest.occurredAtMs + ageMs,
    hold: (wantMs: number): number => Math.ceil(wantMs / stepMs) * stepMs,
  })) as fc.Arbitrary<FailedAttempt>;

it('is never early, never over a limit, and always in whole milliseconds', () => {
  fc.assert(
    fc.property(policies, failures, (given, run) => {
      const decision = decideRetry(given, run);
      if (decision.step === 'park') return;
      const { delayMs, dueAtMs } = decision;
      const step = given.delaysMs[Math.min(run.attempt, given.delaysMs.length) - 1] as number;
      expect(Number.isInteger(delayMs)).toBe(true);
      expect(dueAtMs).toBe(run.nowMs + delayMs);
      expect(delayMs).toBeGreaterThanOrEqual(Math.max(step, run.retryAfterMs as number));
      expect(delayMs).toBeGreaterThanOrEqual(run.hold(step));
      expect(run.failure).not.toBe('permanent');
      expect(run.attempt).toBeLessThan(given.maxAttempts);
      if (run.failure === 'unknown') expect(run.unknowns).toBeLessThan(given.unknownMaxAttempts);
      expect(dueAtMs - run.occurredAtMs).toBeLessThanOrEqual(given.maxAgeMs ?? Infinity);
      expect(dueAtMs - run.firstFailedAtMs).toBeLessThanOrEqual(given.maxElapsedMs ?? Infinity);
    }),
  );
});

it('ends after at most maxAttempts runs, whatever the failures', () => {
  const kinds = fc.array(fc.constantFrom('transient', 'unknown'), { minLength: 30, maxLength: 30 });
  fc.assert(
    fc.property(policies, kinds, (given, classes) => {
      let runs = 0;
      let unknowns = 0;
      for (const failure of classes as ('transient' | 'unknown')[]) {
        runs++;
        if (failure === 'unknown') unknowns++;
        const run = { ...failed, failure, attempt: runs, unknowns };
        if (decideRetry(given, run).step === 'park') break;
      }
      expect(runs).toBeLessThanOrEqual(given.maxAttempts);
      expect(unknowns).toBeLessThanOrEqual(given.unknownMaxAttempts);
    }),
  );
});
