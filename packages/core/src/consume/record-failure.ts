import type { EventOutlet, MessageRef } from '../observe/events.ts';
import type { AttemptFailure, Claim, UnitOfWork } from '../store/inbox-store.ts';
import type { Store } from '../store/store.ts';
import type { ConsumerSettings } from './consumer-options.ts';

export interface FailureToRecord<Tx> {
  /** The unit of the failed run, when it got that far. */
  readonly unit: UnitOfWork<Tx> | undefined;
  readonly claim: Claim;
  readonly failure: AttemptFailure;
  readonly ref: MessageRef;
}

/**
 * In the open unit when it still lives, else in one of its own. `duplicate`: another copy had
 * its effect meanwhile. Never rejects.
 */
export async function recordFailure<Tx>(
  at: {
    readonly store: Store<Tx>;
    readonly events: EventOutlet;
    readonly settings: ConsumerSettings;
  },
  { unit, claim, failure, ref }: FailureToRecord<Tx>,
): Promise<'yes' | 'no' | 'duplicate'> {
  const { store, events, settings } = at;
  if (unit !== undefined) {
    try {
      await unit.fail([failure]);
      return 'yes';
    } catch {
      // The unit ended before (a refused COMMIT, a connection thrown away): once more on a new one.
      await unit.rollback();
    }
  }
  try {
    const fresh = await store.inbox.begin([claim], afterwards(settings));
    if (fresh.claimed[0]?.fresh !== true) {
      await fresh.rollback();
      events.emit({ event: 'message.duplicate', ...ref });
      return 'duplicate';
    }
    await fresh.fail([failure]);
    return 'yes';
  } catch (error) {
    events.emit({ event: 'store.failed', during: 'recording an attempt', error });
    return 'no';
  }
}

/** The run's own signal may have aborted; what is done after it has the same bound again. */
export function afterwards({ handlerTimeoutMs }: ConsumerSettings): AbortSignal {
  return AbortSignal.timeout(handlerTimeoutMs);
}
