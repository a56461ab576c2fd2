import type { Assigned, Lane, LogBatch } from '../driver/driver.ts';
import { Fifo } from '../settle/fifo.ts';
import { OffsetLedger } from '../settle/offset-ledger.ts';
import type { Clock } from '../time/clock.ts';
import { DrainHoles } from './drain-holes.ts';
import { KeyLanes } from './key-lanes.ts';
import { createLogEntry, type LogEntry } from './log-entry.ts';
import type { LaneOwner, LaneRuns, Lock, LogRun } from './log-runs.ts';

export interface LogLaneOptions {
  readonly clock: Clock;
  readonly start: 'earliest' | 'latest';
  readonly isRetry: boolean;
  /** Records that may start past the prefix: a move of the lane repeats no more than these. */
  readonly span: number;
  readonly runs: LaneRuns;
  readonly pause: (on: boolean) => void;
  /** There may be something to start, or to commit. */
  readonly changed: (lane: LogLane) => void;
}

/** `hole`: records before the batch are missing. `gap`: the broker does not have them any more. */
export type Taken = 'taken' | 'hole' | 'gap';

/** Bodies that one lane buffers before it is paused. */
const HIGH_BYTES = 16 * 1024 * 1024;
/** A hole is asked for again after this long, and so many times in all. */
const SEEK_AGAIN_MS = 1_000;
const MAX_SEEKS = 5;
/** A record that ended without an outcome is run again after this long, doubling. */
const RERUN_MS = 100;
const MAX_RERUN_MS = 30_000;

/** One lane in one ownership: ledger, held heads, keys, back-pressure. */
export class LogLane implements LaneOwner {
  readonly lane: Lane;
  readonly ledger: OffsetLedger<LogEntry>;
  /** True while it waits in the intake's queue of lanes that may have work. */
  isQueued = false;
  readonly #options: LogLaneOptions;
  readonly #gone = new AbortController();
  /** Read, not yet due or too far past the prefix; only the head is looked at. */
  readonly #held = new Fifo<LogEntry>();
  readonly #keys = new KeyLanes<LogEntry>();
  /** Hold their key already: run again, or freed by a run of an earlier ownership. */
  readonly #again = new Fifo<LogEntry>();
  /** Wait for such a run. */
  readonly #blocked = new Map<Lock, LogEntry>();
  readonly #reruns = new Map<LogEntry, () => void>();
  /** Done by a run of an earlier ownership before they were read here. */
  readonly #early = new Map<bigint, LogRun>();
  #drain: DrainHoles | undefined;
  #bytes = 0;
  #isPaused = false;
  #cancelDue: (() => void) | undefined;
  #seeks = 0;
  #soughtAtMs = 0;

  constructor({ lane, epoch, committed, low, high }: Assigned, options: LogLaneOptions) {
    const { start, runs } = options;
    this.lane = lane;
    this.#options = options;
    const origin = start === 'latest' ? high : low;
    this.ledger = new OffsetLedger({
      epoch,
      committed,
      from: committed ?? origin,
      commitFrom: start === 'latest',
    });
    for (const run of runs.own(this)) this.#adopt(run);
  }

  /** Aborts when the lane is lost. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** A kept lane goes on; the driver starts it unpaused, at what is committed. */
  keep({ epoch, committed }: Assigned): boolean {
    if (!this.ledger.keep(epoch, committed)) return false;
    this.#isPaused = false;
    this.#relieve();
    return true;
  }

  deliver({ from, next, records, receivedAtMs }: LogBatch): Taken {
    if (this.#drain !== undefined) return 'taken';
    if (from > this.ledger.end) return this.#hole();
    this.#seeks = 0;
    for (const record of records) {
      const entry = createLogEntry(record, receivedAtMs, this.#options.isRetry);
      if (!this.ledger.add(entry)) continue;
      if (this.#isDoneEarly(entry)) {
        entry.record = undefined;
        this.ledger.done(entry);
        continue;
      }
      this.#bytes += record.body.byteLength;
      this.#held.push(entry);
    }
    this.ledger.cover(next);
    this.#moved();
    return 'taken';
  }

  /** The next record to run, if there is one; its key stays taken until `end`. */
  next(): LogEntry | undefined {
    const { runs } = this.#options;
    if (this.#drain !== undefined) {
      return this.#drain.next(this.ledger.highestDone, ({ lock }) => !runs.isRunning(lock));
    }
    for (;;) {
      const entry = this.#again.shift() ?? this.#keys.next();
      if (entry === undefined) return undefined;
      if (entry.done) this.#keys.done(entry.key);
      else if (runs.isRunning(entry.lock)) this.#blocked.set(entry.lock, entry);
      else return entry;
    }
  }

  begin({ lock }: LogEntry): void {
    this.#options.runs.begin(lock);
  }

  /**
   * The outcome of a record is durable.
   *
   * @returns false when nobody here owns the lane any more: the record will be repeated elsewhere.
   */
  finish(entry: LogEntry): boolean {
    this.#bytes -= entry.record?.body.byteLength ?? 0;
    entry.record = undefined;
    this.ledger.done(entry);
    if (this.gone.aborted) return this.#options.runs.hasOwner;
    this.#moved();
    return true;
  }

  /** A run is over and settled; without an outcome the record runs again later. */
  end(entry: LogEntry): void {
    this.#options.runs.end(entry, this);
    if (this.gone.aborted) return;
    if (entry.done) this.#keys.done(entry.key);
    else if (this.#drain !== undefined) this.#drain.giveUp(entry);
    else this.#runLater(entry);
    this.#options.changed(this);
  }

  /** A run that began under an earlier ownership is over. */
  ended(run: LogRun): void {
    if (run.done) this.#adopt(run);
    const blocked = this.#blocked.get(run.lock);
    if (blocked !== undefined) {
      this.#blocked.delete(run.lock);
      this.#again.push(blocked);
    }
    this.#options.changed(this);
  }

  /** From now on only holes are filled. A held head that is not due has nothing finished above it. */
  drain(): void {
    if (this.#drain !== undefined) return;
    const unstarted = [...this.#keys.drain(), ...this.#blocked.values(), ...this.#reruns.keys()];
    for (const waiting of [this.#again, this.#held]) {
      for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
        unstarted.push(entry);
      }
    }
    this.#drain = new DrainHoles(unstarted);
    this.#clear();
    this.#options.changed(this);
  }

  get isDrained(): boolean {
    return this.#drain?.isFilled(this.ledger.highestDone) ?? true;
  }

  /** The lane belongs to somebody else: what was not started is forgotten, what runs goes on. */
  drop(): void {
    this.#options.runs.disown(this);
    this.#clear();
    this.#gone.abort(new Error(`lane ${this.lane} was given up`));
  }

  /** Once per second at most: batches that were under way before the seek still arrive. */
  #hole(): Taken {
    const nowMs = this.#options.clock.now();
    if (this.#seeks > 0 && nowMs < this.#soughtAtMs + SEEK_AGAIN_MS) return 'taken';
    this.#seeks += 1;
    this.#soughtAtMs = nowMs;
    return this.#seeks > MAX_SEEKS ? 'gap' : 'hole';
  }

  #adopt(run: LogRun): void {
    const entry = this.ledger.find(run.position);
    if (entry === undefined) {
      if (run.position >= this.ledger.end) this.#early.set(run.position, run);
    } else if (!entry.done && entry.brokerAtMs === run.brokerAtMs) this.finish(entry);
  }

  #isDoneEarly({ position, brokerAtMs }: LogEntry): boolean {
    const run = this.#early.get(position);
    if (run === undefined) return false;
    this.#early.delete(position);
    return run.brokerAtMs === brokerAtMs;
  }

  #runLater(entry: LogEntry): void {
    const ms = Math.min(MAX_RERUN_MS, RERUN_MS * 2 ** entry.releases);
    entry.releases = Math.min(entry.releases + 1, 10);
    const cancel = this.#options.clock.after(ms, () => {
      this.#reruns.delete(entry);
      this.#again.push(entry);
      this.#options.changed(this);
    });
    this.#reruns.set(entry, cancel);
  }

  #moved(): void {
    if (this.#drain === undefined) {
      this.#admit();
      this.#relieve();
    }
    this.#options.changed(this);
  }

  /** Lets in what is due and within the span; a head that waits holds up its lane only. */
  #admit(): void {
    const { clock, span } = this.#options;
    for (let head = this.#held.peek(); head !== undefined; head = this.#held.peek()) {
      if (!head.done) {
        if (this.ledger.distance(head) >= span) return;
        const waitMs = head.dueAtMs === 0 ? 0 : head.dueAtMs - clock.now();
        if (waitMs > 0) {
          this.#wakeAt(waitMs);
          return;
        }
        this.#keys.push(head, head.key);
      }
      this.#held.shift();
    }
  }

  #wakeAt(waitMs: number): void {
    this.#cancelDue ??= this.#options.clock.after(Math.ceil(waitMs), () => {
      this.#cancelDue = undefined;
      this.#admit();
      this.#options.changed(this);
    });
  }

  /** Done but not committable counts too: it is memory, and what a move repeats. */
  #relieve(): void {
    const { span, pause } = this.#options;
    const { size } = this.ledger;
    const wanted = this.#isPaused
      ? size > span || this.#bytes > HIGH_BYTES / 2
      : size > 2 * span || this.#bytes > HIGH_BYTES;
    if (wanted === this.#isPaused) return;
    this.#isPaused = wanted;
    pause(wanted);
  }

  #clear(): void {
    this.#cancelDue?.();
    this.#cancelDue = undefined;
    for (const cancel of this.#reruns.values()) cancel();
    this.#reruns.clear();
    this.#blocked.clear();
    this.#early.clear();
  }
}
