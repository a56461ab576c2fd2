import { consumeHandlerTimeout } from '../errors/create.ts';
import type { Clock } from '../time/clock.ts';

export interface TimedRun {
  /** Aborts at the timeout and when `stop` aborts. */
  readonly signal: AbortSignal;
  /** Settles with the work, or rejects at the timeout or stop, whichever comes first. */
  race<T>(work: Promise<T>): Promise<T>;
  /** The time begins anew: what was waited for until now is not the handler's. */
  restart(): void;
  /** The timer is gone; the signal aborts no more. */
  end(): void;
}

/** One run's time: bounded by the handler timeout and by the shutdown's deadline. */
export function timedRun(
  clock: Clock,
  limits: { readonly timeoutMs: number; readonly stop: AbortSignal; readonly consumer: string },
): TimedRun {
  const { timeoutMs, stop, consumer } = limits;
  const controller = new AbortController();
  let cancelled: ((reason: unknown) => void) | undefined;
  const abort = (reason: unknown): void => {
    controller.abort(reason);
    cancelled?.(reason);
  };
  let endsAtMs = clock.now() + timeoutMs;
  // One timer for most runs: only when it fires is it seen that the time began anew.
  const onTimer = (): void => {
    // A clock that was put back must not prolong the run by as much.
    endsAtMs = Math.min(endsAtMs, clock.now() + timeoutMs);
    const leftMs = endsAtMs - clock.now();
    if (leftMs > 0) cancelTimer = clock.after(leftMs, onTimer);
    else abort(consumeHandlerTimeout({ consumer, timeoutMs }));
  };
  let cancelTimer = clock.after(timeoutMs, onTimer);
  const onStop = (): void => abort(stop.reason);
  if (stop.aborted) onStop();
  else stop.addEventListener('abort', onStop, { once: true });
  return {
    signal: controller.signal,
    race(work) {
      if (controller.signal.aborted) {
        work.catch(() => undefined); // its failure is the abort's consequence; the abort is reported
        return Promise.reject(controller.signal.reason);
      }
      return new Promise((resolve, reject) => {
        cancelled = reject;
        work.then(resolve, reject);
      });
    },
    restart() {
      endsAtMs = clock.now() + timeoutMs;
    },
    end() {
      cancelTimer();
      stop.removeEventListener('abort', onStop);
      cancelled = undefined;
    },
  };
}

/** A handler that has not returned this long after its abort is reported. */
const STUCK_AFTER_MS = 1_000;

/** Settles when the handler returns at last, whatever it answers. */
export function returned(clock: Clock, runs: Promise<void>, stuck: () => void): Promise<void> {
  const cancel = clock.after(STUCK_AFTER_MS, stuck);
  return runs.then(cancel, cancel);
}
