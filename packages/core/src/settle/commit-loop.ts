import type { CommitMark, Settled } from '../driver/driver.ts';
import type { Clock } from '../time/clock.ts';

/** One lane's part of a commit, and where its answer goes. */
export interface OwedMark {
  readonly mark: CommitMark;
  readonly settled: (answer: Settled) => void;
}

export interface CommitLoopOptions {
  readonly clock: Clock;
  /** From the first finished record to the commit, in ms; doubles while commits fail. */
  readonly everyMs: number;
  /** Asked right before each commit. */
  readonly owed: () => readonly OwedMark[];
  readonly commit: (marks: readonly CommitMark[]) => Promise<readonly Settled[]>;
  readonly failed: (error: unknown) => void;
}

const MAX_EVERY_MS = 5_000;

/** One commit at a time for all lanes of a receiver: by timer, or at once. No timer while nothing is owed. */
export class CommitLoop {
  readonly #options: CommitLoopOptions;
  #cancelTimer: (() => void) | undefined;
  #flight: Promise<void> | undefined;
  #abandon: (() => void) | undefined;
  #again = false;
  #failures = 0;
  #closed = false;

  constructor(options: CommitLoopOptions) {
    this.#options = options;
  }

  /** Something may be owed: commits by the timer. */
  touch(): void {
    if (this.#closed || this.#cancelTimer !== undefined) return;
    const { clock, everyMs } = this.#options;
    const ms = Math.min(MAX_EVERY_MS, everyMs * 2 ** this.#failures);
    this.#cancelTimer = clock.after(ms, () => {
      this.#cancelTimer = undefined;
      // Never rejects; who needs the answer flushes itself.
      void this.flush();
    });
  }

  /**
   * Commits what is owed now; behind a commit under way, right after it. Resolves with the answer,
   * or when the loop is closed. Never rejects.
   */
  flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#closed) return Promise.resolve();
    if (this.#flight !== undefined) {
      this.#again = true;
      return this.#flight;
    }
    this.#flight = this.#fly().finally(() => {
      this.#flight = undefined;
    });
    return this.#flight;
  }

  /** Waits for no answer any more, sends nothing any more. */
  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#abandon?.();
  }

  async #fly(): Promise<void> {
    do {
      this.#again = false;
      await this.#once();
    } while (this.#again && !this.#closed);
  }

  async #once(): Promise<void> {
    const owed = this.#options.owed();
    if (owed.length === 0) return;
    const answers = await this.#answers(owed.map(({ mark }) => mark));
    if (this.#closed) return;
    let failed = false;
    for (const [index, { settled }] of owed.entries()) {
      const answer = answers?.[index] ?? 'unknown';
      if (answer === 'unknown') failed = true;
      settled(answer);
    }
    this.#failures = failed ? Math.min(this.#failures + 1, 10) : 0;
    if (failed) this.touch();
  }

  async #answers(marks: readonly CommitMark[]): Promise<readonly Settled[] | undefined> {
    const { commit, failed } = this.#options;
    try {
      return await new Promise((resolve, reject) => {
        // A lost session may never answer.
        this.#abandon = () => resolve(undefined);
        commit(marks).then(resolve, reject);
      });
    } catch (error) {
      failed(error);
      return undefined;
    } finally {
      this.#abandon = undefined;
    }
  }
}
