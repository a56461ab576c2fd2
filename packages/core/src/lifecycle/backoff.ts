import type { Clock } from '../time/clock.ts';

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

/** What lived this long had made progress: the back-off starts anew. */
const STABLE_MS = 10_000;

/** Consecutive failures of something that is opened again and again. Opening it is no success yet. */
export class Tries {
  readonly #clock: Clock;
  #count = 0;
  #openedAtMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#count;
  }

  opened(): void {
    this.#openedAtMs = this.#clock.now();
  }

  /** It could not be opened, or it ended. @returns failures before this one. */
  failed(): number {
    const openedAtMs = this.#openedAtMs;
    this.#openedAtMs = undefined;
    if (openedAtMs !== undefined && this.#clock.now() - openedAtMs >= STABLE_MS) this.#count = 0;
    this.#count += 1;
    return this.#count - 1;
  }
}
