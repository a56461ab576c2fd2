import type { Claim, ClaimOutcome } from '../store/inbox-store.ts';
import type { ConsumerSettings } from './consumer-options.ts';
import type { Judged } from './incoming.ts';

/**
 * What a message claims in the Inbox. Guarded where a second copy of it may exist: on a retry, a
 * deferral, a redelivery, and when it is claimed `again` to record what its run came to.
 */
export function claimOf(
  { name, order }: ConsumerSettings,
  { id, headers, incoming, envelope }: Judged,
  again: boolean,
): Claim {
  const aggregate = envelope?.aggregate;
  const guarded = again || headers.attempt > 1 || headers.deferrals > 0 || incoming.redelivered;
  const claim = { consumer: name, messageId: id, guarded };
  if (order === 'none' || aggregate === undefined) return claim;
  return { ...claim, aggregate: { type: aggregate.type, id: aggregate.id } };
}

/** How the claim ends; under an ordering policy the version of the aggregate is recorded with it. */
export function outcomeOf(
  { order }: ConsumerSettings,
  { envelope }: Judged,
  outcome: 'applied' | 'rejected',
): ClaimOutcome {
  const version = envelope?.aggregate?.version;
  return order === 'none' || version === undefined ? { outcome } : { outcome, version };
}
