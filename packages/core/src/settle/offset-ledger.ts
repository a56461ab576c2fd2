import type { Settled } from '../driver/driver.ts';
import { Fifo } from './fifo.ts';

/** A record as the ledger sees it. Only the ledger writes `seq` and `done`. */
export interface LedgerEntry {
  readonly position: bigint;
  /** Counts the records of the ledger, so that a span is a number of records and not of positions. */
  seq: number;
  done: boolean;
}

/** What the broker is asked to keep; the crash guard's `note` has its place beside `next`. */
export interface OwedCommit {
  readonly epoch: number;
  readonly next: bigint;
}

export interface LedgerStart {
  readonly epoch: number;
  /** What the broker has; undefined when nothing was ever committed. */
  readonly committed: bigint | undefined;
  /** First position that will be read. */
  readonly from: bigint;
  /** Commit `from` itself: where reading began is a fact that a move must not lose (`latest`). */
  readonly commitFrom?: boolean;
}

/** Below every position: nothing was committed yet. */
const NONE = -1n;

/**
 * One lane in one ownership: records in order, and the contiguous prefix of those that are done.
 * Only the prefix is ever committed; commits grow and belong to the epoch that assigned the lane.
 */
export class OffsetLedger<T extends LedgerEntry> {
  readonly #entries = new Fifo<T>();
  #epoch: number;
  #committed: bigint;
  /** A commit must go beyond this. */
  #floor: bigint;
  #end: bigint;
  #highestDone: bigint = NONE;
  #seq = 0;
  #notNow = false;

  constructor({ epoch, committed, from, commitFrom = false }: LedgerStart) {
    this.#epoch = epoch;
    this.#committed = committed ?? NONE;
    this.#floor = committed ?? (commitFrom ? NONE : from);
    this.#end = from;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** The position that is read next. */
  get end(): bigint {
    return this.#end;
  }

  /** Highest position that is done; -1 when none is. */
  get highestDone(): bigint {
    return this.#highestDone;
  }

  /** Records from the first that is not done on: what a move of the lane repeats at most. */
  get size(): number {
    this.#advance();
    return this.#entries.size;
  }

  /** First position that is not done. */
  get prefix(): bigint {
    this.#advance();
    return this.#entries.peek()?.position ?? this.#end;
  }

  /** @returns false for a record below the end, which is known already. */
  add(entry: T): boolean {
    if (entry.position < this.#end) return false;
    entry.seq = this.#seq;
    this.#seq += 1;
    this.#entries.push(entry);
    this.#end = entry.position + 1n;
    return true;
  }

  /** Everything below `next` was seen: positions without a record are legal. */
  cover(next: bigint): void {
    if (next > this.#end) this.#end = next;
  }

  /** Marks an entry that was added; a repeat does nothing. */
  done(entry: T): void {
    entry.done = true;
    if (entry.position > this.#highestDone) this.#highestDone = entry.position;
  }

  /** How many records lie between the prefix and this entry. */
  distance(entry: T): number {
    this.#advance();
    return entry.seq - (this.#entries.peek()?.seq ?? this.#seq);
  }

  /** An entry that is not below the prefix. */
  find(position: bigint): T | undefined {
    let low = 0;
    let high = this.#entries.size;
    while (low < high) {
      const middle = (low + high) >> 1;
      const entry = this.#entries.at(middle);
      if (entry === undefined || entry.position >= position) high = middle;
      else low = middle + 1;
    }
    const found = this.#entries.at(low);
    return found?.position === position ? found : undefined;
  }

  /** True while the prefix is ahead of what the broker has. */
  get isOwed(): boolean {
    return this.prefix > this.#floor;
  }

  /** The commit to send now, if any. */
  owed(): OwedCommit | undefined {
    if (this.#notNow || !this.isOwed) return undefined;
    return { epoch: this.#epoch, next: this.prefix };
  }

  /** The broker's answer. `stale` means "not now": the next assignment brings another chance. */
  settled({ epoch, next }: OwedCommit, answer: Settled): void {
    if (answer === 'ok' && next > this.#floor) {
      this.#committed = next;
      this.#floor = next;
    }
    if (answer === 'stale' && epoch === this.#epoch) this.#notNow = true;
  }

  /**
   * Goes on under a new epoch, with everything that runs, if nobody else got further meanwhile:
   * what this ledger committed ≤ what is committed now ≤ its prefix.
   *
   * @returns false when the ledger is void; it is unchanged then.
   */
  keep(epoch: number, committed: bigint | undefined): boolean {
    const now = committed ?? NONE;
    if (now < this.#committed || now > this.prefix) return false;
    this.#epoch = epoch;
    this.#committed = now;
    if (now > this.#floor) this.#floor = now;
    this.#notNow = false;
    return true;
  }

  #advance(): void {
    while (this.#entries.peek()?.done === true) this.#entries.shift();
  }
}
