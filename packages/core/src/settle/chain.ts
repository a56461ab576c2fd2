/** The place of one item in a `Chain`. */
export interface Link<T> {
  readonly item: T;
  before: Link<T> | undefined;
  after: Link<T> | undefined;
  removed: boolean;
}

/**
 * Items in the order in which they came, for what comes and goes with each message. A Set would do,
 * but its tables, each of which points to the next when it was filled, keep whatever they held
 * until a full garbage collection once one of them has grown old. Here a removed link points nowhere.
 */
export class Chain<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(item: T): Link<T> {
    const link: Link<T> = { item, before: this.#last, after: undefined, removed: false };
    if (this.#last === undefined) this.#first = link;
    else this.#last.after = link;
    this.#last = link;
    this.#size += 1;
    return link;
  }

  /** A second time it does nothing. */
  remove(link: Link<T>): void {
    if (link.removed) return;
    link.removed = true;
    const { before, after } = link;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    link.before = undefined;
    link.after = undefined;
    this.#size -= 1;
  }

  /** What is in it now; it may be changed meanwhile. */
  all(): readonly T[] {
    const items: T[] = [];
    for (let link = this.#first; link !== undefined; link = link.after) items.push(link.item);
    return items;
  }
}
