import type { Outcome } from '@ackord/core/driver';

/** One call of `send()`: passes on one outcome per message, the first one, until its signal aborts. */
export class Sending {
  readonly #signal: AbortSignal;
  readonly #done: (index: number, outcome: Outcome) => void;
  readonly #ended: boolean[];
  readonly #finished: () => void;
  #left: number;

  constructor(
    count: number,
    signal: AbortSignal,
    done: (index: number, outcome: Outcome) => void,
    finished: () => void,
  ) {
    this.#signal = signal;
    this.#done = done;
    this.#finished = finished;
    this.#left = count;
    this.#ended = new Array<boolean>(count).fill(false);
    signal.addEventListener('abort', this.#abort);
  }

  get over(): boolean {
    return this.#left === 0;
  }

  end(index: number, outcome: Outcome): void {
    if (this.#ended[index] !== false) return;
    this.#ended[index] = true;
    this.#left -= 1;
    if (this.#left === 0) {
      this.#signal.removeEventListener('abort', this.#abort);
      this.#finished();
    }
    this.#done(index, outcome);
  }

  endAll(outcome: Outcome): void {
    for (const index of this.#ended.keys()) this.end(index, outcome);
  }

  readonly #abort = (): void => {
    this.endAll({ is: 'unknown', why: 'aborted', error: this.#signal.reason });
  };
}
