/** What a failed run means for its message. A business result is not a failure. */
export type FailureClass = 'transient' | 'permanent' | 'unknown';
