/** Which feed gets a free slot. Retries have a share of their own, so that neither starves the other. */
export class Slots {
  readonly #limit: number;
  readonly #retryShare: number;
  readonly #users: SlotUser[] = [];
  #running = 0;
  #filling = false;

  constructor(limit: number) {
    this.#limit = limit;
    this.#retryShare = Math.max(1, Math.floor(limit / 4));
  }

  get running(): number {
    return this.#running;
  }

  add(user: SlotUser): void {
    this.#users.push(user);
  }

  remove(user: SlotUser): void {
    const at = this.#users.indexOf(user);
    if (at >= 0) this.#users.splice(at, 1);
  }

  /** Gives free slots away: retries up to their share first, then live, then whoever has work. */
  fill(): void {
    if (this.#filling) return;
    this.#filling = true;
    try {
      while (this.#running < this.#limit && this.#startOne()) this.#running += 1;
    } finally {
      this.#filling = false;
    }
  }

  free(): void {
    this.#running -= 1;
    this.fill();
  }

  #startOne(): boolean {
    for (const user of this.#users) {
      if (user.isRetry && user.running < this.#retryShare && user.startNext()) return true;
    }
    for (const user of this.#users) if (!user.isRetry && user.startNext()) return true;
    for (const user of this.#users) if (user.isRetry && user.startNext()) return true;
    return false;
  }
}

export interface SlotUser {
  readonly isRetry: boolean;
  readonly running: number;
  /** Starts one piece of work if there is any; it calls `slots.free()` at its end. */
  startNext(): boolean;
}
