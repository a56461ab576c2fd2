/** Items in arrival order, one at a time per lane, any number across lanes. */
export class KeyLanes<T> {
  #free: T[] = [];
  #head = 0;
  readonly #busy = new Map<string, T[]>();

  get size(): number {
    let waiting = this.#free.length - this.#head;
    for (const queue of this.#busy.values()) waiting += queue.length;
    return waiting;
  }

  push(item: T, lane: string | undefined): void {
    const queue = lane === undefined ? undefined : this.#busy.get(lane);
    if (queue !== undefined) {
      queue.push(item);
      return;
    }
    if (lane !== undefined) this.#busy.set(lane, []);
    this.#free.push(item);
  }

  /** The next item whose lane is free; its lane stays busy until `done`. */
  next(): T | undefined {
    const item = this.#free[this.#head];
    if (item === undefined) return undefined;
    this.#head += 1;
    if (this.#head > 256 && this.#head * 2 > this.#free.length) {
      this.#free = this.#free.slice(this.#head);
      this.#head = 0;
    } else if (this.#head === this.#free.length) {
      this.#free = [];
      this.#head = 0;
    }
    return item;
  }

  /** Frees the lane; its next item becomes ready. */
  done(lane: string | undefined): void {
    if (lane === undefined) return;
    const queue = this.#busy.get(lane);
    const next = queue?.shift();
    if (next === undefined) this.#busy.delete(lane);
    else this.#free.push(next);
  }

  /** Takes what waits behind a lane's current item. */
  cut(lane: string | undefined): T[] {
    const queue = lane === undefined ? undefined : this.#busy.get(lane);
    return queue?.splice(0) ?? [];
  }

  /** Takes everything that was not started. */
  drain(): T[] {
    const waiting = this.#free.slice(this.#head);
    for (const queue of this.#busy.values()) waiting.push(...queue.splice(0));
    this.#free = [];
    this.#head = 0;
    return waiting;
  }
}
