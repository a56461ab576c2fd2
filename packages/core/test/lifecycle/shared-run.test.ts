import { describe, expect, it } from 'vitest';
import { SharedRun } from '../../src/lifecycle/shared-run.ts';

function rig() {
  const runs: PromiseWithResolvers<void>[] = [];
  const shared = new SharedRun(() => {
    const run = Promise.withResolvers<void>();
    runs.push(run);
    return run.promise;
  });
  return { runs, shared };
}

describe('a shared run', () => {
  it('begins at once when none is under way', async () => {
    const { runs, shared } = rig();
    const first = shared.ask();
    runs[0]?.resolve();
    await first;
    const second = shared.ask();
    expect(runs).toHaveLength(2);
    runs[1]?.resolve();
    await second;
  });

  it('gives all who ask meanwhile one run that begins after they asked', async () => {
    const { runs, shared } = rig();
    const first = shared.ask();
    const later = [shared.ask(), shared.ask(), shared.ask()];
    expect(runs).toHaveLength(1);
    runs[0]?.resolve();
    await first;
    await Promise.resolve();
    expect(runs).toHaveLength(2);
    const latest = shared.ask();
    runs[1]?.resolve();
    await Promise.all(later);
    expect(runs).toHaveLength(3);
    runs[2]?.resolve();
    await latest;
  });

  it('tells a failure to those of that run only', async () => {
    const { runs, shared } = rig();
    const first = shared.ask();
    const next = shared.ask();
    runs[0]?.reject(new Error('first'));
    await expect(first).rejects.toThrow('first');
    runs[1]?.resolve();
    await next;
  });
});
