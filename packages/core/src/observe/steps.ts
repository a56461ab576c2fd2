/** Steps of a delivery or a relayed row at which an interceptor is awaited. */
export type StepName =
  | 'received'
  | 'decoded'
  | 'inbox.claimed'
  | 'handler.before'
  | 'handler.after'
  | 'commit.before'
  | 'commit.after'
  | 'attempt.recorded'
  | 'ack.before'
  | 'ack.after'
  | 'retry.copy.before'
  | 'retry.copy.confirmed'
  | 'return.before'
  | 'park.copy.before'
  | 'park.copy.confirmed'
  | 'outbox.publish.sent'
  | 'outbox.confirmed';

export interface StepInfo {
  readonly messageId: string;
  readonly consumer?: string;
  readonly attempt?: number;
}

/**
 * Awaited at every step; the place for tracing, and where tests crash a process. An interceptor
 * that throws counts as a failure of the step it stands in.
 */
export type Interceptor = (step: StepName, info: StepInfo) => void | Promise<void>;
