import type { Clock } from '../time/clock.ts';
import type { Session } from './connection.ts';

export interface TopologyRepairOptions {
  readonly clock: Clock;
  readonly session: () => Session | undefined;
  readonly apply: (session: Session) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

/** One message without a subscriber is no sign of a missing place; some over a while are. */
const SUSPICIOUS = 4;
const SUSPICIOUS_FOR_MS = 5_000;
const FORGOTTEN_AFTER_MS = 60_000;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Applies the topology again, by the mode of the bus, when messages go on finding no way: somebody
 * removed a bucket, a queue or an exchange while the connection lived on. One at a time; the pause
 * between two doubles while it does not help.
 */
export class TopologyRepair {
  readonly #options: TopologyRepairOptions;
  #unroutable = 0;
  #firstAtMs = 0;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #pauseMs = FIRST_PAUSE_MS;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;

  constructor(options: TopologyRepairOptions) {
    this.#options = options;
  }

  /** A message found no way. */
  unroutable(): void {
    const nowMs = this.#options.clock.now();
    if (nowMs - this.#lastAtMs > FORGOTTEN_AFTER_MS) {
      this.#unroutable = 0;
      this.#pauseMs = FIRST_PAUSE_MS;
    }
    if (this.#unroutable === 0) this.#firstAtMs = nowMs;
    this.#lastAtMs = nowMs;
    this.#unroutable += 1;
    const over = this.#options.session();
    if (over === undefined || this.#running !== undefined || nowMs < this.#notBeforeMs) return;
    const goesOn = nowMs - this.#firstAtMs >= SUSPICIOUS_FOR_MS;
    if (this.#unroutable < SUSPICIOUS || !goesOn) return;
    this.#unroutable = 0;
    this.#notBeforeMs = nowMs + this.#pauseMs;
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
    this.#running = this.#apply(over);
  }

  /** Resolves when no repair is under way. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #apply(session: Session): Promise<void> {
    try {
      await this.#options.apply(session);
    } catch (error) {
      this.#options.failed(error);
    } finally {
      this.#running = undefined;
    }
  }
}
