/** Wrong use of the command: the text says what to do instead. Ends it with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
