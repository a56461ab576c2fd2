import type { Clock } from '@ackord/core/driver';

/** The clock of one process: when the process is killed, none of its timers fires any more. */
export class ProcessClock implements Clock {
  readonly #clock: Clock;
  readonly #cancels = new Set<() => void>();
  #isDead = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  after(ms: number, run: () => void): () => void {
    if (this.#isDead) return () => undefined;
    const cancel = this.#clock.after(ms, () => {
      this.#cancels.delete(cancel);
      run();
    });
    this.#cancels.add(cancel);
    return () => {
      this.#cancels.delete(cancel);
      cancel();
    };
  }

  kill(): void {
    this.#isDead = true;
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
  }
}
