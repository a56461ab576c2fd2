import { describe, expect, it } from 'vitest';
import { TimedRuns } from '../../src/consume/timed-run.ts';
import { ManualClock } from '../../src/time/manual-clock.ts';

const limits = { timeoutMs: 1_000, consumer: 'c' };
const never = new AbortController().signal;

describe('the time of a run', () => {
  it('ends after the timeout, counted from the last restart', async () => {
    const clock = new ManualClock();
    const timed = new TimedRuns(clock, limits).start(never);
    await clock.advance(900);
    timed.restart();
    await clock.advance(999);
    expect(timed.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(timed.signal.aborted).toBe(true);
  });

  it('ends within twice the timeout when the clock is put back', async () => {
    const manual = new ManualClock();
    let backMs = 0;
    const timed = new TimedRuns(
      {
        now: () => manual.now() - backMs,
        after: (ms, run) => manual.after(ms, run),
      },
      limits,
    ).start(never);
    backMs = 3_600_000;
    await manual.advance(2_000);
    expect(timed.signal.aborted).toBe(true);
  });

  it('ends at a stop, with all others that the same signal stops and with no other', async () => {
    const runs = new TimedRuns(new ManualClock(), limits);
    const stop = new AbortController();
    const [first, second, ended] = [1, 2, 3].map(() => runs.start(stop.signal));
    const other = runs.start(never);
    const raced = first?.race(new Promise<never>(() => {}));
    ended?.end();
    stop.abort(new Error('closing'));
    await expect(raced).rejects.toThrow('closing');
    expect(second?.signal.aborted).toBe(true);
    expect(ended?.signal.aborted).toBe(false);
    expect(other.signal.aborted).toBe(false);
    expect(runs.start(stop.signal).signal.aborted).toBe(true);
  });

  it('listens to a stop once, however many runs there are', () => {
    const runs = new TimedRuns(new ManualClock(), limits);
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>): void => {
      listeners += 1;
      add(...args);
    };
    for (let at = 0; at < 5; at += 1) runs.start(signal).end();
    expect(listeners).toBe(1);
  });
});
