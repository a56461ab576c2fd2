import type { Clock, Outgoing } from '@ackord/core/driver';

/** Dedup ids of the last sends, for profiles with a window. */
export class DedupWindow {
  readonly #clock: Clock;
  /** Address and dedup id, to the time of the first send; in order of sending. */
  readonly #seen = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True when the id was sent to the same address within the window; otherwise it is remembered. */
  repeats(message: Outgoing, windowMs: number): boolean {
    if (windowMs <= 0) return false;
    const now = this.#clock.now();
    for (const [key, atMs] of this.#seen) {
      if (atMs + windowMs > now) break;
      this.#seen.delete(key);
    }
    const key = JSON.stringify([message.to, message.dedupId]);
    if (this.#seen.has(key)) return true;
    this.#seen.set(key, now);
    return false;
  }
}
