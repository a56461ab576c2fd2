import { beforeEach, expect, test } from 'vitest';
import { SettleBatch } from '../../src/consume/settle-batch.ts';
import type { QueueReceiver, Settled } from '../../src/driver/driver.ts';
import { ManualClock } from '../../src/time/manual-clock.ts';

let clock: ManualClock;
let gone: AbortController;
let busy: boolean;
let calls: unknown[][];
let batch: SettleBatch;

beforeEach(() => {
  clock = new ManualClock();
  gone = new AbortController();
  busy = true;
  calls = [];
  const receiver: Pick<QueueReceiver, 'settle'> = {
    settle: (settles, signal) => {
      calls.push(settles.map(({ token }) => token));
      return Promise.resolve(settles.map((): Settled => (signal.aborted ? 'unknown' : 'ok')));
    },
  };
  batch = new SettleBatch(receiver as QueueReceiver, {
    items: 10,
    most: 3,
    busy: () => busy,
    clock,
    signal: gone.signal,
  });
});

const ack = (token: string): Promise<Settled> => batch.add(token, { do: 'ack' });
const turn = (): Promise<void> => clock.advance(0);

test('an ack leaves at the end of its turn when nothing else runs', async () => {
  busy = false;
  const answer = ack('a');
  await turn();
  expect(calls).toEqual([['a']]);
  expect(await answer).toBe('ok');
});

test('while handlers run, acks of several turns leave together', async () => {
  for (const token of ['a', 'b', 'c']) {
    void ack(token);
    await turn();
  }
  expect(calls).toEqual([['a', 'b', 'c']]);
  expect(clock.pending()).toBe(0);
});

test('an ack waits for at most 5 ms', async () => {
  void ack('a');
  await clock.advance(4);
  expect(calls).toEqual([]);
  await clock.advance(1);
  expect(calls).toEqual([['a']]);
});

test('the last handler that ends takes along what waits', async () => {
  void ack('a');
  await turn();
  busy = false;
  void ack('b');
  await turn();
  expect(calls).toEqual([['a', 'b']]);
});

test('what is no ack never waits, nor does what was added before it', async () => {
  void ack('a');
  await turn();
  void batch.add('b', { do: 'release' });
  await turn();
  expect(calls).toEqual([['a', 'b']]);
});

test('a flush and a lost session leave nothing waiting and no timer', async () => {
  const first = ack('a');
  await turn();
  await batch.flushed();
  expect(await first).toBe('ok');
  const second = ack('b');
  await turn();
  gone.abort();
  expect(await second).toBe('unknown');
  expect(clock.pending()).toBe(0);
});

test('more than fits one call is split', async () => {
  const answers = Array.from({ length: 12 }, (_, at) => ack(`m${at}`));
  await turn();
  expect(calls.map(({ length }) => length)).toEqual([10, 2]);
  expect(await Promise.all(answers)).toHaveLength(12);
});
