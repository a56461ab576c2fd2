import type { Lane } from '../driver/driver.ts';

/** What runs one at a time in a lane: a key, or the position of a record without one. */
export type Lock = string | bigint;

/** Who holds a lane's records now; told about runs that began under an earlier ownership. */
export interface LaneOwner {
  ended(lock: Lock, position: bigint, isDone: boolean): void;
}

/**
 * The runs of one lane in this process, whoever owned the lane when they started: a move, or a new
 * session, must not run a record or a key twice at once.
 */
export class LaneRuns {
  readonly #running = new Set<Lock>();
  owner: LaneOwner | undefined;

  isRunning(lock: Lock): boolean {
    return this.#running.has(lock);
  }

  begin(lock: Lock): void {
    this.#running.add(lock);
  }

  /** The outcome goes to the present owner if it is another one than the starter. */
  end(lock: Lock, outcome: { position: bigint; isDone: boolean; starter: LaneOwner }): void {
    this.#running.delete(lock);
    if (this.owner === outcome.starter) return;
    this.owner?.ended(lock, outcome.position, outcome.isDone);
  }
}

/** Lives longer than sessions: one per consumer. Grows with the number of lanes only. */
export class LogRuns {
  readonly #lanes = new Map<Lane, LaneRuns>();

  of(lane: Lane): LaneRuns {
    let runs = this.#lanes.get(lane);
    if (runs === undefined) {
      runs = new LaneRuns();
      this.#lanes.set(lane, runs);
    }
    return runs;
  }
}
