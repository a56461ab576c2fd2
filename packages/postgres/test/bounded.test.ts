import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { bounded, Deadlines } from '../src/bounded.ts';
import { never } from './rig.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('ends each call at its own deadline, with one timer for all', async () => {
  const within = new Deadlines(100);
  const late: string[] = [];
  within.start(() => late.push('first'));
  await vi.advanceTimersByTimeAsync(60);
  const ended = within.start(() => late.push('ended'));
  within.start(() => late.push('third'));
  expect(vi.getTimerCount()).toBe(1);
  within.end(ended);
  await vi.advanceTimersByTimeAsync(40);
  expect(late).toEqual(['first']);
  await vi.advanceTimersByTimeAsync(59);
  expect(late).toEqual(['first']);
  await vi.advanceTimersByTimeAsync(2);
  expect(late).toEqual(['first', 'third']);
  expect(vi.getTimerCount()).toBe(0);
});

it('starts anew after a pause without calls', async () => {
  const within = new Deadlines(100);
  const late: string[] = [];
  within.end(within.start(() => late.push('ended')));
  await vi.advanceTimersByTimeAsync(50);
  within.start(() => late.push('second'));
  await vi.advanceTimersByTimeAsync(99);
  expect(late).toEqual([]);
  await vi.advanceTimersByTimeAsync(2);
  expect(late).toEqual(['second']);
});

it('keeps no process alive when no call is open', () => {
  vi.useRealTimers();
  const within = new Deadlines(60_000);
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const first = within.start(() => undefined);
  expect(timers()).toBe(before + 1);
  within.end(first);
  expect(timers()).toBe(before);
  within.end(within.start(() => undefined));
  const second = within.start(() => undefined);
  expect(timers()).toBe(before + 1);
  within.end(second);
  expect(timers()).toBe(before);
});

it('gives up at the deadline, and what comes later is ignored', async () => {
  const given: Error[] = [];
  let answer: ((value: string) => void) | undefined;
  const limit = { what: 'Claiming', within: new Deadlines(100), signal: never };
  const call = bounded<string>(
    (resolve) => {
      answer = resolve;
    },
    limit,
    (error) => given.push(error),
  );
  const refused = expect(call).rejects.toMatchObject({ code: 'MSG_STORE_UNAVAILABLE' });
  await vi.advanceTimersByTimeAsync(101);
  await refused;
  answer?.('too late');
  expect(given).toHaveLength(1);
});

it('does not start what was stopped before', async () => {
  const started = vi.fn();
  const signal = AbortSignal.abort(new Error('stopped'));
  const call = bounded(started, { what: 'x', within: new Deadlines(100), signal }, () => undefined);
  await expect(call).rejects.toThrow('stopped');
  expect(started).not.toHaveBeenCalled();
});
