import type { AttemptRow } from '../store/inbox-store.ts';

/** What the run that decided to park had failed with, so that the record still tells it. */
export function recordedError({ attempts, errorType, errorText }: AttemptRow): Error {
  const error = new Error(errorText ?? `parked by a decision after attempt ${attempts}`);
  if (errorType !== undefined) error.name = errorType;
  return error;
}
