import { type BusEvent, type Interceptor, transient } from '@ackord/core';
import type { Observation } from './observations.ts';

/** What goes wrong in a run, known before it starts. Plain data: it is handed to child processes. */
export interface TroublePlan {
  /** Message ids whose first run fails as if another service was away. */
  readonly failOnce: readonly string[];
  /** Message ids whose every run fails so: they end parked, with their attempts used up. */
  readonly failAlways: readonly string[];
  readonly withoutInbox: boolean;
}

export interface TroubleOptions {
  readonly plan: TroublePlan;
  /** Dies at this commit of its own, the first being 1. Undefined: never. */
  readonly killAtCommit: number | undefined;
  /** Ends this process for good; whoever awaits it does not come back. */
  readonly die: (messageId: string) => void;
  readonly see: (seen: Observation) => void;
}

/** Makes the trouble at the steps of the inventory's deliveries, and tells of its runs. */
export function troubleMaker({ plan, killAtCommit, die, see }: TroubleOptions): Interceptor {
  // Without an Inbox the handler has committed by itself when it returns.
  const committed = plan.withoutInbox ? 'handler.after' : 'commit.after';
  const failOnce = new Set(plan.failOnce);
  const failAlways = new Set(plan.failAlways);
  let commits = 0;
  return async (step, { messageId, attempt = 1 }) => {
    if (step === 'decoded') see({ saw: 'run', id: messageId, attempt, atMs: Date.now() });
    if (step === 'handler.before') {
      if (failAlways.has(messageId)) throw transient('The price service answers 503, always.');
      if (attempt === 1 && failOnce.delete(messageId)) {
        throw transient('The price service answers 503, this once.');
      }
    }
    if (step !== committed) return;
    commits += 1;
    if (commits !== killAtCommit) return;
    die(messageId);
    await new Promise<never>(() => {});
  };
}

/** What the events of a bus add to the runs. */
export function seenIn(event: BusEvent): Observation | undefined {
  if (event.event === 'message.duplicate') return { saw: 'duplicate', id: event.messageId };
  if (event.event !== 'message.retried') return undefined;
  const { messageId, attempt, dueAtMs } = event;
  return { saw: 'retry', id: messageId, attempt, dueAtMs };
}
