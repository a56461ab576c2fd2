import type { Clock } from '../time/clock.ts';
import type { Session } from './connection.ts';

export interface TopologyRepairOptions {
  readonly clock: Clock;
  readonly session: () => Session | undefined;
  readonly apply: (session: Session) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

/** So many unroutable messages in a row are no publisher without a subscriber by chance. */
const SUSPICIOUS = 4;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Applies the topology again, by the mode of the bus, when messages find no way any more: somebody
 * removed a bucket, a queue or an exchange while the connection lived on. One at a time; the pause
 * between two doubles while it does not help.
 */
export class TopologyRepair {
  readonly #options: TopologyRepairOptions;
  #unroutable = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;

  constructor(options: TopologyRepairOptions) {
    this.#options = options;
  }

  routed(): void {
    this.#unroutable = 0;
  }

  unroutable(): void {
    const { clock, session } = this.#options;
    this.#unroutable += 1;
    const over = session();
    const nowMs = clock.now();
    if (this.#unroutable < SUSPICIOUS || this.#running !== undefined || over === undefined) return;
    if (nowMs < this.#notBeforeMs) return;
    if (nowMs > this.#notBeforeMs + LONGEST_PAUSE_MS) this.#pauseMs = FIRST_PAUSE_MS;
    this.#notBeforeMs = nowMs + this.#pauseMs;
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
    this.#unroutable = 0;
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
