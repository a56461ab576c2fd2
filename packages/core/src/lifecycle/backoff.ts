export interface BackoffOptions {
  readonly baseMs: number;
  readonly capMs: number;
}

/** Reconnects, failed copies and reopened receivers. */
export const DEFAULT_BACKOFF: BackoffOptions = { baseMs: 100, capMs: 30_000 };

/** Full jitter: anything from a tenth of the ceiling to the ceiling, which doubles per failure up to the cap. */
export function backoffMs(failures: number, random: number, options: BackoffOptions): number {
  const ceiling = Math.min(options.capMs, options.baseMs * 2 ** Math.min(failures, 30));
  return Math.ceil(ceiling * (0.1 + 0.9 * random));
}
