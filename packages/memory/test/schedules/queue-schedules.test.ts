import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type MemoryQueueOptions, memoryQueue } from '../../src/index.ts';
import { schedules } from './operations.ts';
import { play } from './play.ts';
import type { Profile } from './world.ts';

/** More runs: `ACKORD_SCHEDULE_RUNS=5000 vitest run --project unit packages/memory/test/schedules`. */
const RUNS = Number(process.env['ACKORD_SCHEDULE_RUNS'] ?? 40);
const PLACES = [
  'reserve.retry',
  'reserve.parking',
  'reserve.retry.1s',
  'totals.retry.5s',
  'totals.retry',
];
const SOURCES = ['reserve', 'reserve.retry', 'totals'];

const profile = (name: string, options: MemoryQueueOptions): Profile => ({
  name,
  isLog: false,
  places: PLACES,
  sources: SOURCES,
  driver: (broker) => memoryQueue({ ...options, broker }),
});

it.each([
  profile('buckets', {}),
  profile('buckets with leases', { leaseMs: 6_000 }),
  profile('returns with leases', { delays: 'return', leaseMs: 6_000 }),
  profile('returns, one message per key', { delays: 'return', lanes: 'group' }),
])('keeps the promise under any schedule: $name', { timeout: 3_600_000 }, async (at) => {
  await fc.assert(
    fc.asyncProperty(schedules, async (schedule) => {
      expect(await play(at, schedule)).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});
