/** Messages that can be handed out, in order of place. Taking the first costs the same for any length. */
export class ReadyList<T extends { readonly place: number }> {
  #fresh: T[] = [];
  #head = 0;
  /** What came back, in order of place: few, and older than everything fresh. */
  readonly #returned: T[] = [];

  get size(): number {
    return this.#fresh.length - this.#head + this.#returned.length;
  }

  push(item: T): void {
    this.#fresh.push(item);
  }

  putBack(item: T): void {
    const at = this.#returned.findLastIndex((other) => other.place <= item.place);
    this.#returned.splice(at + 1, 0, item);
  }

  first(): T | undefined {
    return this.#returned[0] ?? this.#fresh[this.#head];
  }

  *[Symbol.iterator](): Generator<T> {
    yield* this.#returned;
    for (let i = this.#head; i < this.#fresh.length; i++) yield this.#fresh[i] as T;
  }

  /** Removes and answers the first that fits. */
  take(fits: (item: T) => boolean): T | undefined {
    const back = this.#returned.findIndex(fits);
    if (back >= 0) return this.#returned.splice(back, 1)[0];
    for (let i = this.#head; i < this.#fresh.length; i++) {
      const item = this.#fresh[i] as T;
      if (!fits(item)) continue;
      if (i === this.#head) this.#head++;
      else this.#fresh.splice(i, 1);
      this.#compact();
      return item;
    }
    return undefined;
  }

  #compact(): void {
    if (this.#head < 512 || this.#head * 2 < this.#fresh.length) return;
    this.#fresh = this.#fresh.slice(this.#head);
    this.#head = 0;
  }
}
