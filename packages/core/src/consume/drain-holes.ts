import type { LogEntry } from './log-entry.ts';

/**
 * What a lane still runs while it drains: records below the highest finished one. Left undone they
 * would hold the prefix, and the next owner would repeat everything above them.
 */
export class DrainHoles {
  /** Not started, ascending. */
  #rest: LogEntry[];
  /** The prefix cannot pass the lowest record that was given up: filling above it is in vain. */
  #givenUp: bigint | undefined;

  constructor(unstarted: readonly LogEntry[]) {
    this.#rest = unstarted.toSorted(byPosition);
  }

  /** The lowest hole that `isFree` allows now. */
  next(highestDone: bigint, isFree: (entry: LogEntry) => boolean): LogEntry | undefined {
    const found = this.#holes(highestDone).find(isFree);
    if (found !== undefined) this.#rest = this.#rest.filter((entry) => entry !== found);
    return found;
  }

  isFilled(highestDone: bigint): boolean {
    return this.#holes(highestDone).length === 0;
  }

  giveUp({ position }: LogEntry): void {
    if (this.#givenUp === undefined || position < this.#givenUp) this.#givenUp = position;
  }

  #holes(highestDone: bigint): readonly LogEntry[] {
    const givenUp = this.#givenUp ?? highestDone;
    const limit = givenUp < highestDone ? givenUp : highestDone;
    return this.#rest.filter(({ position, done }) => position < limit && !done);
  }
}

function byPosition(one: LogEntry, other: LogEntry): number {
  return one.position < other.position ? -1 : 1;
}
