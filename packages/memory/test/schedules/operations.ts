import type { StepName } from '@ackord/core';
import type { RejectKind } from '@ackord/core/driver';
import fc from 'fast-check';
import { KINDS, type Kind } from './messages.ts';

/** One thing that a schedule does; numbers are reduced to what there is when it is done. */
export type Operation =
  | {
      op: 'publish';
      via: 'direct' | 'outbox' | 'rolled-back';
      kind: Kind;
      fails: number;
      key: number;
      count: number;
    }
  | { op: 'advance'; ms: number }
  | { op: 'kill'; at: number }
  | { op: 'kill-in-step'; step: StepName; after: number }
  | { op: 'close'; at: number; timeoutMs: number }
  | { op: 'join' }
  | { op: 'lose-session'; at: number }
  | { op: 'lose-settles' | 'lose-confirms' | 'duplicate-deliveries' | 'refuse-open'; count: number }
  | { op: 'reject-sends'; count: number; kind: RejectKind; together: 'no' | 'unknown' | undefined }
  | { op: 'hold-confirms' | 'release-confirms' | 'store-down' | 'store-up' | 'refuse-commit' }
  | { op: 'lose-commit'; when: 'before' | 'after' }
  | { op: 'remove' | 'restore' | 'cancel'; place: number }
  | { op: 'rebalance'; group: number }
  | { op: 'junk' };

export interface Schedule {
  readonly seed: number;
  readonly instances: number;
  readonly operations: readonly Operation[];
  /** Kinds of operations that are left out: faults that come often would hide each other. */
  readonly without: readonly Operation['op'][];
}

const STEPS: readonly StepName[] = [
  'received',
  'decoded',
  'inbox.claimed',
  'handler.before',
  'handler.after',
  'commit.before',
  'commit.after',
  'attempt.recorded',
  'ack.before',
  'ack.after',
  'retry.copy.before',
  'retry.copy.confirmed',
  'return.before',
  'park.copy.before',
  'park.copy.confirmed',
  'outbox.publish.sent',
  'outbox.confirmed',
];
const REJECTS: readonly RejectKind[] = [
  'refused',
  'throttled',
  'unroutable',
  'invalid',
  'too-large',
];
const FAULTS: readonly Operation['op'][] = [
  'kill',
  'kill-in-step',
  'close',
  'join',
  'lose-session',
  'lose-settles',
  'lose-confirms',
  'duplicate-deliveries',
  'refuse-open',
  'reject-sends',
  'hold-confirms',
  'store-down',
  'refuse-commit',
  'lose-commit',
  'remove',
  'cancel',
  'rebalance',
  'junk',
];

const small = fc.integer({ min: 1, max: 3 });
const at = fc.nat({ max: 5 });

function of(
  op: Operation['op'],
  members: Readonly<Record<string, fc.Arbitrary<unknown>>> = {},
): fc.Arbitrary<Operation> {
  return fc.record({
    op: fc.constant(op),
    ...members,
  }) as fc.Arbitrary<unknown> as fc.Arbitrary<Operation>;
}

const publish = of('publish', {
  via: fc.constantFrom('direct', 'outbox', 'outbox', 'rolled-back'),
  kind: fc.constantFrom(...KINDS),
  fails: fc.integer({ min: 1, max: 5 }),
  key: fc.nat({ max: 2 }),
  count: fc.integer({ min: 1, max: 4 }),
});
const advance = of('advance', { ms: fc.integer({ min: 0, max: 4_000 }) });

const operation = fc.oneof(
  { arbitrary: publish, weight: 8 },
  { arbitrary: advance, weight: 8 },
  of('kill', { at }),
  {
    arbitrary: of('kill-in-step', {
      step: fc.constantFrom(...STEPS),
      after: fc.nat({ max: 3 }),
    }) as fc.Arbitrary<Operation>,
    weight: 3,
  },
  of('close', { at, timeoutMs: fc.constantFrom(0, 200, 10_000) }),
  { arbitrary: of('join'), weight: 2 },
  of('lose-session', { at }),
  of('lose-settles', { count: small }),
  of('lose-confirms', { count: small }),
  of('duplicate-deliveries', { count: small }),
  of('refuse-open', { count: small }),
  of('reject-sends', {
    count: small,
    kind: fc.constantFrom(...REJECTS),
    together: fc.constantFrom(undefined, 'no', 'unknown'),
  }),
  of('hold-confirms'),
  of('release-confirms'),
  of('store-down'),
  of('store-up'),
  of('refuse-commit'),
  of('lose-commit', { when: fc.constantFrom('before', 'after') }),
  of('remove', { place: at }),
  of('restore', { place: at }),
  of('cancel', { place: at }),
  of('rebalance', { group: at }),
  of('junk'),
) as fc.Arbitrary<Operation>;

export const schedules: fc.Arbitrary<Schedule> = fc.record({
  seed: fc.nat({ max: 1_000_000 }),
  instances: fc.integer({ min: 1, max: 3 }),
  operations: fc.array(operation, { maxLength: 30, size: 'max' }),
  without: fc.subarray([...FAULTS]),
});
