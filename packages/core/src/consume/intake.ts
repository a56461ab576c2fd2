/** One source being read: a queue receiver or a log receiver with what was taken from it. */
export interface Intake {
  /** Handlers of this source that run, stuck ones included. */
  readonly running: number;
  /** Taken from the broker and not settled. */
  readonly unsettled: number;
  readonly lastProgressAtMs: number;
  /** Takes nothing new and gives back what was not started. */
  stop(): Promise<void>;
  /** Resolves when nothing runs and nothing waits for its settlement. */
  idle(): Promise<void>;
  /** After `idle`, or past the deadline: frees the receiver. */
  close(): Promise<void>;
  /** The session is gone: nothing that was taken from it can be settled. */
  lost(): void;
}
