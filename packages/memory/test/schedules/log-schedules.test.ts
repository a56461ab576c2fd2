import fc from 'fast-check';
import { expect, it } from 'vitest';
import { memoryLog } from '../../src/index.ts';
import { schedules } from './operations.ts';
import { play } from './play.ts';
import type { Profile } from './world.ts';

/** More runs: `ACKORD_SCHEDULE_RUNS=5000 vitest run --project unit packages/memory/test/schedules`. */
const RUNS = Number(process.env['ACKORD_SCHEDULE_RUNS'] ?? 40);

const log: Profile = {
  name: 'log',
  isLog: true,
  places: ['reserve.parking', 'reserve.retry.1s', 'totals.retry.5s', 'totals.parking'],
  sources: ['orders', 'reserve.retry.1s', 'results'],
  driver: (broker) => memoryLog({ broker, partitions: 2 }),
};

it('keeps the promise under any schedule on a log', { timeout: 3_600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(schedules, async (schedule) => {
      expect(await play(log, schedule)).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});
