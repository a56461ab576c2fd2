import { ManualClock } from '@ackord/core/testing';
import { describe, expect, it } from 'vitest';
import type { Session } from '../../src/lifecycle/connection.ts';
import { TopologyRepair } from '../../src/lifecycle/topology-repair.ts';

function rig(apply: () => Promise<void> = () => Promise.resolve()) {
  const clock = new ManualClock();
  const applied: number[] = [];
  const errors: unknown[] = [];
  const repair = new TopologyRepair({
    clock,
    session: () => ({}) as Session,
    apply: () => {
      applied.push(clock.now());
      return apply();
    },
    failed: (error) => errors.push(error),
  });
  const unroutable = (times: number): void => {
    for (let n = 0; n < times; n += 1) repair.unroutable();
  };
  return { clock, applied, errors, repair, unroutable };
}

describe('topology repair', () => {
  it('takes four unroutable messages over five seconds', async () => {
    const { clock, applied, unroutable } = rig();
    unroutable(100);
    expect(applied).toHaveLength(0);
    await clock.advance(5_000);
    unroutable(1);
    expect(applied).toHaveLength(1);
  });

  it('forgets what happened once, a minute ago', async () => {
    const { clock, applied, unroutable } = rig();
    unroutable(100);
    await clock.advance(61_000);
    unroutable(100);
    expect(applied).toHaveLength(0);
  });

  it('pauses twice as long each time it did not help', async () => {
    const { clock, applied, unroutable } = rig();
    for (let second = 0; second <= 45; second += 1) {
      unroutable(4);
      await clock.advance(1_000);
    }
    const start = applied[0] ?? 0;
    expect(applied.map((at) => (at - start) / 1_000)).toEqual([0, 5, 15, 35]);
  });

  it('runs one at a time and survives a refusal', async () => {
    let refuse = (_error: Error): void => undefined;
    const refused = new Promise<void>((_, reject) => {
      refuse = reject;
    });
    const { clock, applied, errors, repair, unroutable } = rig(() => refused);
    const goOn = async (): Promise<void> => {
      unroutable(4);
      await clock.advance(6_000);
      unroutable(4);
    };
    await goOn();
    await goOn();
    expect(applied).toHaveLength(1);
    refuse(new Error('no right'));
    await repair.idle();
    expect(errors).toHaveLength(1);
    await goOn();
    expect(applied).toHaveLength(2);
  });
});
