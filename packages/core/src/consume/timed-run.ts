import { consumeHandlerTimeout } from '../errors/create.ts';
import { Chain, type Link } from '../settle/chain.ts';
import type { Clock } from '../time/clock.ts';

export interface RunLimits {
  readonly timeoutMs: number;
  readonly consumer: string;
}

/**
 * The runs of one consumer. They share one listener on the signal that stops them: listeners form a
 * chain in which one that was removed long ago still holds all that came after it, and with them
 * everything their runs had used, until the next full garbage collection.
 */
export class TimedRuns {
  readonly #clock: Clock;
  readonly #limits: RunLimits;
  /** Those that go on, by the signal that stops them. */
  readonly #going = new WeakMap<AbortSignal, Chain<TimedRun>>();

  constructor(clock: Clock, limits: RunLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** @param stop - Its abort ends the run, as the timeout does. */
  start(stop: AbortSignal): TimedRun {
    const going = this.#going.get(stop) ?? this.#watch(stop);
    const run = new TimedRun(this.#clock, this.#limits, going);
    if (stop.aborted) run.abort(stop.reason);
    return run;
  }

  #watch(stop: AbortSignal): Chain<TimedRun> {
    const going = new Chain<TimedRun>();
    this.#going.set(stop, going);
    const onStop = (): void => {
      for (const run of going.all()) run.abort(stop.reason);
    };
    stop.addEventListener('abort', onStop, { once: true });
    return going;
  }
}

/** One run's time: bounded by the handler timeout and by the shutdown's deadline. */
export class TimedRun {
  readonly #clock: Clock;
  readonly #limits: RunLimits;
  readonly #going: Chain<TimedRun>;
  readonly #link: Link<TimedRun>;
  readonly #controller = new AbortController();
  #cancelled: ((reason: unknown) => void) | undefined;
  #endsAtMs: number;
  #cancelTimer: () => void;

  constructor(clock: Clock, limits: RunLimits, going: Chain<TimedRun>) {
    this.#clock = clock;
    this.#limits = limits;
    this.#going = going;
    this.#link = going.add(this);
    this.#endsAtMs = clock.now() + limits.timeoutMs;
    this.#cancelTimer = clock.after(limits.timeoutMs, this.#onTimer);
  }

  /** Aborts at the timeout and at the stop. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Settles with the work, or rejects at the timeout or stop, whichever comes first. */
  race<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.#controller;
    if (signal.aborted) {
      work.catch(() => undefined); // its failure is the abort's consequence; the abort is reported
      return Promise.reject(signal.reason);
    }
    return new Promise((resolve, reject) => {
      this.#cancelled = reject;
      work.then(resolve, reject);
    });
  }

  /** The time begins anew: what was waited for until now is not the handler's. */
  restart(): void {
    this.#endsAtMs = this.#clock.now() + this.#limits.timeoutMs;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
    this.#cancelled?.(reason);
  }

  /** The timer is gone; the signal aborts no more. */
  end(): void {
    this.#cancelTimer();
    this.#going.remove(this.#link);
    this.#cancelled = undefined;
  }

  /** One timer for most runs: only when it fires is it seen that the time began anew. */
  readonly #onTimer = (): void => {
    const { timeoutMs, consumer } = this.#limits;
    const nowMs = this.#clock.now();
    // A clock that was put back must not prolong the run by as much.
    this.#endsAtMs = Math.min(this.#endsAtMs, nowMs + timeoutMs);
    const leftMs = this.#endsAtMs - nowMs;
    if (leftMs > 0) this.#cancelTimer = this.#clock.after(leftMs, this.#onTimer);
    else this.abort(consumeHandlerTimeout({ consumer, timeoutMs }));
  };
}

/** A handler that has not returned this long after its abort is reported. */
const STUCK_AFTER_MS = 1_000;

/** Settles when the handler returns at last, whatever it answers. */
export function returned(clock: Clock, runs: Promise<void>, stuck: () => void): Promise<void> {
  const cancel = clock.after(STUCK_AFTER_MS, stuck);
  return runs.then(cancel, cancel);
}
