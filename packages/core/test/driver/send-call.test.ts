import { expect, it } from 'vitest';
import type { Outcome } from '../../src/driver/driver.ts';
import { SendCall } from '../../src/driver/send-call.ts';

const CONFIRMED: Outcome = { is: 'confirmed' };

function call(count: number, signal: AbortSignal) {
  const log: string[] = [];
  const sent = new SendCall(
    count,
    signal,
    (index, outcome) => log.push(`${index} ${outcome.is}`),
    () => log.push('finished'),
  );
  return { sent, log };
}

it('passes on the first outcome of each and says when all have theirs', () => {
  const { sent, log } = call(2, new AbortController().signal);
  sent.end(1, CONFIRMED);
  sent.end(1, { is: 'unknown', why: 'session', error: undefined });
  expect(sent.over).toBe(false);
  sent.end(0, CONFIRMED);
  sent.end(2, CONFIRMED);
  expect(sent.over).toBe(true);
  expect(log).toEqual(['1 confirmed', 'finished', '0 confirmed']);
});

it('ends the rest when its signal aborts', () => {
  const abort = new AbortController();
  const { sent, log } = call(2, abort.signal);
  sent.end(0, CONFIRMED);
  abort.abort(new Error('late'));
  expect(log).toEqual(['0 confirmed', 'finished', '1 unknown']);
});

it('ends in a microtask, not before it was returned, when its signal has aborted', async () => {
  const { log } = call(1, AbortSignal.abort());
  expect(log).toEqual([]);
  await Promise.resolve();
  expect(log).toEqual(['finished', '0 unknown']);
});
