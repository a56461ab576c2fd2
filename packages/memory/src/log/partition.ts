import type { Lane } from '@ackord/core/driver';
import type { StoredMessage } from '../broker/stored-message.ts';

export interface Entry {
  readonly position: bigint;
  readonly message: StoredMessage;
}

/** An append-only list whose positions may have gaps, as control and compacted records leave them. */
export class Partition {
  readonly lane: Lane;
  readonly topic: string;
  #entries: Entry[] = [];
  #low = 0n;
  #high = 0n;

  constructor(topic: string, index: number) {
    this.topic = topic;
    this.lane = `${topic}#${index}`;
  }

  /** First position that exists. */
  get low(): bigint {
    return this.#low;
  }

  /** The position after the last. */
  get high(): bigint {
    return this.#high;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** @param gap - Positions without a record that follow this one. */
  append(message: StoredMessage, gap: number): void {
    this.#entries.push({ position: this.#high, message });
    this.#high += BigInt(1 + gap);
  }

  /** Records from a position on, and the position to go on from; at least one record when there is one. */
  read(from: bigint, limit: { records: number; bytes: number }): { found: Entry[]; next: bigint } {
    const found: Entry[] = [];
    let bytes = 0;
    for (let i = this.#indexOf(from); i < this.#entries.length; i++) {
      const entry = this.#entries[i] as Entry;
      bytes += entry.message.body.byteLength;
      const full = found.length === limit.records || bytes > limit.bytes;
      if (full && found.length > 0) return { found, next: entry.position };
      found.push(entry);
    }
    return { found, next: this.#high };
  }

  /** Drops what retention would drop: every record below the position. */
  trim(before: bigint): void {
    this.#entries = this.#entries.slice(this.#indexOf(before));
    if (before > this.#low) this.#low = before < this.#high ? before : this.#high;
  }

  #indexOf(position: bigint): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle] as Entry).position < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
