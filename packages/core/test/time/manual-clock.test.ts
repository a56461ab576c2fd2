import { expect, it } from 'vitest';
import { ManualClock } from '../../src/time/manual-clock.ts';

it('fires due timers in order of time, then of setting', async () => {
  const clock = new ManualClock(1_000);
  const fired: string[] = [];
  for (const [ms, name] of [
    [30, 'c'],
    [10, 'a'],
    [30, 'd'],
    [20, 'b'],
    [31, 'never'],
  ] as const) {
    clock.after(ms, () => fired.push(`${name}@${clock.now()}`));
  }
  await clock.advance(30);
  expect(fired).toEqual(['a@1010', 'b@1020', 'c@1030', 'd@1030']);
  expect([clock.now(), clock.pending()]).toEqual([1_030, 1]);
});

it('does not fire a cancelled timer', async () => {
  const clock = new ManualClock();
  let fired = false;
  const cancel = clock.after(5, () => {
    fired = true;
  });
  cancel();
  await clock.advance(10);
  expect([fired, clock.pending()]).toEqual([false, 0]);
});

it('fires timers that a timer sets within the same advance', async () => {
  const clock = new ManualClock(0);
  const at: number[] = [];
  const again = (): void => {
    at.push(clock.now());
    clock.after(10, again);
  };
  clock.after(10, again);
  await clock.advance(35);
  expect(at).toEqual([10, 20, 30]);
});

it('lets promises and chained immediates run before time moves on', async () => {
  const clock = new ManualClock(0);
  const seen: string[] = [];
  clock.after(10, () => {
    let hops = 0;
    const hop = (): void => {
      hops++;
      if (hops < 40) setImmediate(hop);
      else void Promise.resolve().then(() => seen.push(`hops@${clock.now()}`));
    };
    hop();
  });
  clock.after(11, () => seen.push('later'));
  await clock.advance(20);
  expect(seen).toEqual(['hops@10', 'later']);
});

it('runs until a condition holds, and no further', async () => {
  const clock = new ManualClock(0);
  let count = 0;
  const tick = (): void => {
    count++;
    clock.after(100, tick);
  };
  clock.after(100, tick);
  await clock.runUntil(() => count === 3);
  expect(clock.now()).toBe(300);
});

it('rejects when the condition cannot come true', async () => {
  const clock = new ManualClock(0);
  await expect(clock.runUntil(() => false)).rejects.toThrow('no timer is left');
  clock.after(2_000, () => undefined);
  await expect(clock.runUntil(() => false, { limitMs: 1_000 })).rejects.toThrow('within 1000 ms');
});
