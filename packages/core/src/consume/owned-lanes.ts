import type { Assigned, Fault, Lane, LogBatch, LogReceiver } from '../driver/driver.ts';
import type { OwedMark } from '../settle/commit-loop.ts';
import { LogLane, type LogLaneOptions } from './log-lane.ts';
import type { LogRuns } from './log-runs.ts';

export interface OwnedLanesOptions
  extends Pick<LogLaneOptions, 'clock' | 'start' | 'isRetry' | 'span' | 'changed'> {
  readonly runs: LogRuns;
  /** Records from `committed` to `low` are gone unread. */
  readonly gap: (lane: Lane, committed: bigint, low: bigint) => void;
  readonly fault: (fault: Fault, ended: boolean) => void;
}

/** The lanes that a log receiver owns now, by what its driver reports. */
export class OwnedLanes {
  readonly #options: OwnedLanesOptions;
  readonly #receiver: LogReceiver;
  readonly #lanes = new Map<Lane, LogLane>();
  #isDraining = false;

  constructor(receiver: LogReceiver, options: OwnedLanesOptions) {
    this.#receiver = receiver;
    this.#options = options;
  }

  owns(lane: Lane, epoch: number): boolean {
    return this.#lanes.get(lane)?.ledger.epoch === epoch;
  }

  /** A lane that comes again keeps what runs, unless somebody else got further with it. */
  assigned(at: Assigned): void {
    const { lane, committed, low } = at;
    const old = this.#lanes.get(lane);
    const isKept = old?.keep(at) === true;
    const from = isKept ? old.ledger.end : committed;
    if (from !== undefined && from < low) this.#stop(lane, from, low);
    else if (isKept) this.#options.changed(old);
    else this.#own(at);
  }

  revoked(lane: Lane, epoch: number): void {
    if (this.owns(lane, epoch)) this.#drop(lane);
  }

  /** @returns false for a batch of an earlier ownership. */
  delivered(batch: LogBatch): boolean {
    const lane = this.#lanes.get(batch.lane);
    if (lane === undefined || lane.ledger.epoch !== batch.epoch) return false;
    const taken = lane.deliver(batch);
    if (taken === 'hole') this.#receiver.seek(batch.lane, lane.ledger.end);
    if (taken === 'gap') this.#stop(batch.lane, lane.ledger.end, batch.from);
    return true;
  }

  owed(): readonly OwedMark[] {
    const marks: OwedMark[] = [];
    for (const { lane, ledger } of this.#lanes.values()) {
      const owed = ledger.owed();
      if (owed === undefined) continue;
      marks.push({ mark: { lane, ...owed }, settled: (answer) => ledger.settled(owed, answer) });
    }
    return marks;
  }

  /** Something finished is not committed, be it that it cannot be now. */
  get isOwed(): boolean {
    return [...this.#lanes.values()].some(({ ledger }) => ledger.isOwed);
  }

  drain(): void {
    this.#isDraining = true;
    for (const lane of this.#lanes.values()) lane.drain();
  }

  get isDrained(): boolean {
    return [...this.#lanes.values()].every((lane) => lane.isDrained);
  }

  drop(): void {
    for (const lane of [...this.#lanes.keys()]) this.#drop(lane);
  }

  #own(at: Assigned): void {
    const { lane } = at;
    this.#drop(lane);
    const owned = new LogLane(at, {
      ...this.#options,
      runs: this.#options.runs.of(lane),
      pause: (on) => this.#receiver.pause(lane, on),
    });
    this.#lanes.set(lane, owned);
    if (this.#isDraining) owned.drain();
    this.#options.changed(owned);
  }

  /** Reading on would lose records without a word: the lane stands still until it is assigned anew. */
  #stop(lane: Lane, from: bigint, low: bigint): void {
    this.#drop(lane);
    this.#receiver.pause(lane, true);
    this.#options.gap(lane, from, low);
    const error = new Error(
      `Lane ${lane} is to be read from ${from} but begins at ${low}: the records between are gone. ` +
        'It is not read any further. Commit a position to go on from, and keep records longer.',
    );
    this.#options.fault({ kind: 'missing', lane, error }, false);
  }

  #drop(lane: Lane): void {
    const owned = this.#lanes.get(lane);
    if (owned === undefined) return;
    this.#lanes.delete(lane);
    owned.drop();
    this.#options.changed(owned);
  }
}
