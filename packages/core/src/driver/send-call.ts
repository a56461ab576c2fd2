import type { Outcome } from './driver.ts';

/**
 * One call of `send()`: passes on one outcome per message, the first one, until its signal aborts.
 * A signal that has aborted already ends it in a microtask.
 */
export class SendCall {
  readonly #signal: AbortSignal;
  readonly #done: (index: number, outcome: Outcome) => void;
  readonly #ended: boolean[];
  readonly #finished: () => void;
  #left: number;

  /** @param finished - Runs once, just before the last outcome is passed on. */
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
    if (signal.aborted) queueMicrotask(this.#abort);
    else signal.addEventListener('abort', this.#abort);
  }

  /** Whether every message has its outcome. */
  get over(): boolean {
    return this.#left === 0;
  }

  /** Later outcomes of the same message are ignored. */
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
