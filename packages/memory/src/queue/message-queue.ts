import type { Clock } from '@ackord/core/driver';
import type { MemoryFaults } from '../broker/faults.ts';
import type { StoredMessage } from '../broker/stored-message.ts';
import { ReadyList } from './ready-list.ts';

/** A message in a queue, over all its deliveries. */
export interface Queued {
  /** Keeps its place when it comes back. */
  readonly place: number;
  readonly message: StoredMessage;
  deliveries: number;
  /** Who released it last: others come first. */
  releasedBy: Taker | undefined;
}

/** One hand-over. `live` ends with the first settle, the lease or the receiver. */
export interface Held {
  readonly queued: Queued;
  readonly taker: Taker;
  live: boolean;
  leaseUntilMs: number | undefined;
  cancelLease: () => void;
}

/** The broker's end of a receiver. */
export interface Taker {
  /** How many more it takes now. */
  room(): number;
  deliver(held: readonly Held[]): void;
  /** The queue is gone; what is unsettled went back. */
  cancelled(): void;
}

export interface QueueOptions {
  /** Undefined: deliveries are held until they are settled or the session ends. */
  readonly leaseMs: number | undefined;
  /** One unsettled message per key, in order. */
  readonly lanes: boolean;
}

/** Competing receivers on one queue, as a broker runs it. */
export class MessageQueue {
  readonly name: string;
  readonly #clock: Clock;
  readonly #faults: MemoryFaults;
  readonly #options: QueueOptions;
  readonly #ready = new ReadyList<Queued>();
  readonly #held = new Set<Held>();
  /** Returned with a delay; the value cancels its timer. */
  readonly #waiting = new Map<Queued, () => void>();
  readonly #busyLanes = new Set<string>();
  readonly #takers: Taker[] = [];
  #places = 0;
  #turn = 0;
  #scheduled = false;

  constructor(name: string, clock: Clock, faults: MemoryFaults, options: QueueOptions) {
    this.name = name;
    this.#clock = clock;
    this.#faults = faults;
    this.#options = options;
  }

  get ready(): number {
    return this.#ready.size;
  }

  get held(): number {
    return this.#held.size + this.#waiting.size;
  }

  get oldestAtMs(): number | undefined {
    return this.#ready.first()?.message.storedAtMs;
  }

  /** Everything it keeps, whoever holds it, by place. */
  messages(): readonly StoredMessage[] {
    const all = [...this.#ready, ...[...this.#held].map((h) => h.queued), ...this.#waiting.keys()];
    return all.sort((a, b) => a.place - b.place).map((queued) => queued.message);
  }

  push(message: StoredMessage): void {
    this.#ready.push({ place: this.#places++, message, deliveries: 0, releasedBy: undefined });
    this.wake();
  }

  attach(taker: Taker): void {
    this.#takers.push(taker);
  }

  /** Takes the receiver off; its deliveries come again, marked as such. */
  detach(taker: Taker): void {
    const at = this.#takers.indexOf(taker);
    if (at >= 0) this.#takers.splice(at, 1);
    for (const held of [...this.#held]) if (held.taker === taker) this.#giveBack(held);
    this.wake();
  }

  /** The queue went away under its receivers. */
  cancelAll(): void {
    for (const taker of [...this.#takers]) {
      this.detach(taker);
      taker.cancelled();
    }
  }

  ack(held: Held): void {
    this.#end(held);
    this.#freeLane(held.queued);
    if (this.#options.lanes) this.wake();
  }

  release(held: Held): void {
    held.queued.releasedBy = held.taker;
    this.#giveBack(held);
    this.wake();
  }

  /** Its lane, if there is one, stays blocked until it is back. */
  returnAfter(held: Held, delayMs: number): void {
    this.#end(held);
    const { queued } = held;
    const cancel = this.#clock.after(Math.ceil(delayMs), () => {
      this.#waiting.delete(queued);
      this.#freeLane(queued);
      this.#ready.putBack(queued);
      this.wake();
    });
    this.#waiting.set(queued, cancel);
  }

  extend(held: Held, ms: number): void {
    held.cancelLease();
    this.#lease(held, ms);
  }

  /** Hands out on the next turn of the event loop, never inside of a caller. */
  wake(): void {
    if (this.#scheduled || this.#takers.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#handOut();
    });
  }

  #handOut(): void {
    const batches = new Map<Taker, Held[]>();
    let idle = 0;
    while (this.#ready.size > 0 && idle < this.#takers.length) {
      const taker = this.#takers[this.#turn++ % this.#takers.length] as Taker;
      const batch = batches.get(taker) ?? [];
      const queued = batch.length < taker.room() ? this.#takeFor(taker) : undefined;
      if (!queued) {
        idle++;
        continue;
      }
      idle = 0;
      batch.push(this.#hold(queued, taker));
      batches.set(taker, batch);
    }
    for (const [taker, batch] of batches) taker.deliver(batch.filter((held) => held.live));
  }

  #takeFor(taker: Taker): Queued | undefined {
    const lanes = this.#options.lanes;
    return this.#ready.take(
      ({ message, releasedBy }) =>
        !(lanes && message.key !== undefined && this.#busyLanes.has(message.key)) &&
        !(releasedBy === taker && this.#takers.some((t) => t !== taker && t.room() > 0)),
    );
  }

  #hold(queued: Queued, taker: Taker): Held {
    queued.deliveries++;
    queued.releasedBy = undefined;
    if (this.#options.lanes && queued.message.key !== undefined) {
      this.#busyLanes.add(queued.message.key);
    }
    const held: Held = {
      queued,
      taker,
      live: true,
      leaseUntilMs: undefined,
      cancelLease: () => {},
    };
    if (this.#options.leaseMs !== undefined) this.#lease(held, this.#options.leaseMs);
    this.#held.add(held);
    if (this.#faults.takeDuplicate()) this.#ready.putBack({ ...queued });
    return held;
  }

  #lease(held: Held, ms: number): void {
    held.leaseUntilMs = this.#clock.now() + ms;
    held.cancelLease = this.#clock.after(ms, () => {
      this.#giveBack(held);
      this.wake();
    });
  }

  #giveBack(held: Held): void {
    if (!held.live) return;
    this.#end(held);
    this.#freeLane(held.queued);
    this.#ready.putBack(held.queued);
  }

  #end(held: Held): void {
    held.live = false;
    held.cancelLease();
    this.#held.delete(held);
  }

  #freeLane(queued: Queued): void {
    if (queued.message.key !== undefined) this.#busyLanes.delete(queued.message.key);
  }
}
