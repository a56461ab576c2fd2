import type { Clock } from './clock.ts';

interface Timer {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** Turns of the event loop that are always granted: promise chains need no more than one. */
const LEAST_TURNS = 3;
/** Turns after which work that keeps queueing immediates counts as endless. */
const MOST_TURNS = 500;

/** A clock for tests: time stands still until it is told to move. */
export class ManualClock implements Clock {
  #nowMs: number;
  #order = 0;
  readonly #timers = new Set<Timer>();

  /** @param startMs - Milliseconds since the epoch at which it stands. Default 2026-01-01T00:00:00Z. */
  constructor(startMs: number = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  after(ms: number, run: () => void): () => void {
    const timer: Timer = { atMs: this.#nowMs + Math.max(ms, 0), order: this.#order++, run };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** Timers that have neither fired nor been cancelled. */
  pending(): number {
    return this.#timers.size;
  }

  /**
   * Moves time forward by `ms`. Timers fire in order of due time, timers that they set included;
   * before each one, promises and immediates settle at the time that went before.
   */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await settled();
    for (let next = this.#next(endMs); next; next = this.#next(endMs)) {
      this.#fire(next);
      await settled();
    }
    this.#nowMs = endMs;
    await settled();
  }

  /**
   * Jumps from timer to timer until `predicate` holds.
   *
   * Rejects when `limitMs` of virtual time (default 10 minutes) have passed, or when no timer is
   * left that could change anything.
   */
  async runUntil(predicate: () => boolean, options: { limitMs?: number } = {}): Promise<void> {
    const { limitMs = 600_000 } = options;
    const startMs = this.#nowMs;
    for (;;) {
      await settled();
      if (predicate()) return;
      const next = this.#next(startMs + limitMs);
      if (!next) throw new Error(this.#stuck(startMs, limitMs));
      this.#fire(next);
    }
  }

  #stuck(startMs: number, limitMs: number): string {
    const passed = this.#nowMs - startMs;
    return this.#timers.size === 0
      ? `The condition did not come true: after ${passed} ms of virtual time no timer is left.`
      : `The condition did not come true within ${limitMs} ms of virtual time.`;
  }

  #next(untilMs: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.atMs > untilMs) continue;
      if (!first || timer.atMs < first.atMs) first = timer;
      else if (timer.atMs === first.atMs && timer.order < first.order) first = timer;
    }
    return first;
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer);
    this.#nowMs = Math.max(this.#nowMs, timer.atMs);
    timer.run();
  }
}

/** Resolves when promise chains and immediates, also those they start, have run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    if (turn >= LEAST_TURNS && !process.getActiveResourcesInfo().includes('Immediate')) return;
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
