import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Delay } from '../../src/driver/capabilities.ts';
import { type Held, holdDelay } from '../../src/retry/hold-delay.ts';

const BUCKET: Delay = { by: 'bucket', minMs: 1, maxMs: 4_294_967_295 };
const NAK: Delay = {
  by: 'return',
  stepMs: 1,
  maxMs: 86_400_000,
  holdsSlot: true,
  blocksLane: false,
};
const VISIBILITY: Delay = {
  by: 'return',
  stepMs: 1_000,
  maxMs: 43_200_000,
  holdsSlot: false,
  blocksLane: false,
};
const FIFO: Delay = { ...VISIBILITY, blocksLane: true };
const SCHEDULE: Delay = { by: 'copy-at', minMs: 30_000, stepMs: 1_000, maxMs: 31_536_000_000 };
const SECONDS: Delay = { by: 'copy-at', minMs: 1_000, stepMs: 1_000, maxMs: 900_000 };
const LINEAR: Delay = { by: 'return-linear', minMs: 5_000, maxMs: 60_000 };
const LOG: Delay = { by: 'held-log' };
const LADDER = [5_000, 300_000, 30_000];

it.each<[string, readonly Delay[], number, Held | undefined]>([
  ['the bucket that fits', [BUCKET], 30_000, { by: 'bucket', delayMs: 30_000 }],
  ['the next longer bucket', [BUCKET], 5_001, { by: 'bucket', delayMs: 30_000 }],
  [
    'the longest bucket, chained',
    [BUCKET],
    300_001,
    { by: 'bucket', delayMs: 300_000, chained: true },
  ],
  ['the shortest bucket', [BUCKET], 0, { by: 'bucket', delayMs: 5_000 }],
  ['whole seconds, rounded up', [VISIBILITY], 1_001, { by: 'return', delayMs: 2_000 }],
  ['at least one step', [VISIBILITY], 0, { by: 'return', delayMs: 1_000 }],
  [
    'the longest return, chained',
    [VISIBILITY],
    43_200_001,
    { by: 'return', delayMs: 43_200_000, chained: true },
  ],
  ['a return for short delays', [NAK, SCHEDULE], 5_000, { by: 'return', delayMs: 5_000 }],
  [
    'a copy for delays from its minimum on',
    [NAK, SCHEDULE],
    30_000,
    { by: 'copy-at', delayMs: 30_000 },
  ],
  ['a copy rather than a slot', [NAK, SCHEDULE], 30_001, { by: 'copy-at', delayMs: 31_000 }],
  [
    'a copy where a return would chain',
    [NAK, SCHEDULE],
    90_000_000,
    { by: 'copy-at', delayMs: 90_000_000 },
  ],
  ['the first listed of equals', [VISIBILITY, SECONDS], 5_000, { by: 'return', delayMs: 5_000 }],
  ['a copy rather than a blocked lane', [FIFO, SECONDS], 5_000, { by: 'copy-at', delayMs: 5_000 }],
  [
    'a blocked lane rather than a chain',
    [FIFO, SECONDS],
    901_000,
    { by: 'return', delayMs: 901_000 },
  ],
  ['the minimum of the only mechanism', [SCHEDULE], 5_000, { by: 'copy-at', delayMs: 30_000 }],
  ['the retry topic that fits', [LOG], 7_000, { by: 'held-log', delayMs: 30_000 }],
  ['the least the broker holds', [LINEAR], 5_000, { by: 'return-linear', delayMs: 5_000 }],
  [
    'the least the broker holds, gated',
    [LINEAR],
    5_001,
    { by: 'return-linear', delayMs: 5_000, chained: true },
  ],
  ['nothing', [], 5_000, undefined],
])('takes %s', (_, delays, wantMs, held) => {
  expect(holdDelay(delays, LADDER, wantMs)).toEqual(held);
});

it('holds any delay in a log without retry topics, and none in buckets that do not exist', () => {
  expect(holdDelay([LOG], [], 1_234.5)).toEqual({ by: 'held-log', delayMs: 1_235 });
  expect(holdDelay([BUCKET], [], 5_000)).toBeUndefined();
});

const delay: fc.Arbitrary<Delay> = fc.oneof(
  fc.constant(BUCKET),
  fc.constant(LOG),
  fc.record({
    by: fc.constant('return' as const),
    stepMs: fc.integer({ min: 1, max: 5_000 }),
    maxMs: fc.integer({ min: 5_000, max: 1e9 }),
    holdsSlot: fc.boolean(),
    blocksLane: fc.boolean(),
  }),
  fc.record({
    by: fc.constant('copy-at' as const),
    minMs: fc.integer({ min: 0, max: 60_000 }),
    stepMs: fc.integer({ min: 1, max: 5_000 }),
    maxMs: fc.integer({ min: 120_000, max: 1e9 }),
  }),
);

it('never rounds down, and chains only what no mechanism can hold', () => {
  fc.assert(
    fc.property(
      fc.array(delay, { minLength: 1, maxLength: 3 }),
      fc.array(fc.integer({ min: 1, max: 1e8 }), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 0, max: 2e9 }),
      (delays, buckets, wantMs) => {
        const held = holdDelay(delays, buckets, wantMs) as Held;
        expect(Number.isInteger(held.delayMs) && held.delayMs > 0).toBe(true);
        if (held.chained) {
          for (const single of delays) {
            expect(holdDelay([single], buckets, wantMs)?.chained).toBe(true);
          }
        } else {
          expect(held.delayMs).toBeGreaterThanOrEqual(wantMs);
        }
      },
    ),
  );
});
