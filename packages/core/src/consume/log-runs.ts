import type { Lane } from '../driver/driver.ts';

/** What runs one at a time in a lane: a key, or the position of a record without one. */
export type Lock = string | bigint;

/** A run and the record it was about. A topic made anew counts from 0 again: only with its time is a position a name. */
export interface LogRun {
  readonly lock: Lock;
  readonly position: bigint;
  readonly brokerAtMs: number;
  /** Its outcome is durable. */
  readonly done: boolean;
}

/** Who holds a lane's records now; told about runs that began under an earlier ownership. */
export interface LaneOwner {
  ended(run: LogRun): void;
}

/**
 * The runs of one lane in this process, whoever owned the lane when they started: a move, or a new
 * session, must not run a record or a key twice at once.
 */
export class LaneRuns {
  readonly #running = new Set<Lock>();
  /** Outcomes that nobody could take: no more than ran when the lane was given up. */
  #orphans: LogRun[] = [];
  #owner: LaneOwner | undefined;

  get hasOwner(): boolean {
    return this.#owner !== undefined;
  }

  /** @returns the outcomes that came while nobody owned the lane. */
  own(owner: LaneOwner): readonly LogRun[] {
    this.#owner = owner;
    const orphans = this.#orphans;
    this.#orphans = [];
    return orphans;
  }

  disown(owner: LaneOwner): void {
    if (this.#owner === owner) this.#owner = undefined;
  }

  isRunning(lock: Lock): boolean {
    return this.#running.has(lock);
  }

  begin(lock: Lock): void {
    this.#running.add(lock);
  }

  /** The outcome goes to the present owner if it is another one than the starter. */
  end(run: LogRun, starter: LaneOwner): void {
    this.#running.delete(run.lock);
    if (this.#owner === starter) return;
    if (this.#owner !== undefined) this.#owner.ended(run);
    else if (run.done) this.#orphans.push(run);
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
