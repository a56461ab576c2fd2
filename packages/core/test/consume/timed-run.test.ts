import { describe, expect, it } from 'vitest';
import { timedRun } from '../../src/consume/timed-run.ts';
import { ManualClock } from '../../src/time/manual-clock.ts';

const limits = { timeoutMs: 1_000, stop: new AbortController().signal, consumer: 'c' };

describe('the time of a run', () => {
  it('ends after the timeout, counted from the last restart', async () => {
    const clock = new ManualClock();
    const timed = timedRun(clock, limits);
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
    const timed = timedRun(
      {
        now: () => manual.now() - backMs,
        after: (ms, run) => manual.after(ms, run),
      },
      limits,
    );
    backMs = 3_600_000;
    await manual.advance(2_000);
    expect(timed.signal.aborted).toBe(true);
  });
});
