import type { EventOutlet, MessageRef } from '../observe/events.ts';
import type { AttemptFailure, AttemptRow, Claim, UnitOfWork } from '../store/inbox-store.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';
import { withDeadline } from '../time/deadline.ts';
import type { ConsumerSettings } from './consumer-options.ts';

export interface FailureToRecord<Tx> {
  /** The unit of the failed run, when it got that far. */
  readonly unit: UnitOfWork<Tx> | undefined;
  /** The row that this unit read. */
  readonly row: AttemptRow | undefined;
  readonly claim: Claim;
  /**
   * Judges by the row that is there when the failure is recorded: while a run waited for a lock,
   * or its connection broke, another copy may have failed and been put off.
   */
  readonly judge: (row: AttemptRow | undefined) => AttemptFailure;
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
    readonly clock: Clock;
  },
  { unit, row, claim, judge, ref }: FailureToRecord<Tx>,
): Promise<'yes' | 'no' | 'duplicate'> {
  const { store, events, settings, clock } = at;
  const failure = judge(row);
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
    return await withDeadline(clock, settings.handlerTimeoutMs, RECORDING, async (signal) => {
      const fresh = await store.inbox.begin([claim], signal);
      const claimed = fresh.claimed[0];
      if (claimed?.fresh !== true) {
        await fresh.rollback();
        events.emit({ event: 'message.duplicate', ...ref });
        return 'duplicate';
      }
      await fresh.fail([judge(claimed.attempts)]);
      return 'yes';
    });
  } catch (error) {
    events.emit({ event: 'store.failed', during: RECORDING, error });
    return 'no';
  }
}

/** The run's own signal may have aborted; what is done after it has the same bound again. */
const RECORDING = 'recording an attempt';
