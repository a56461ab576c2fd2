import { configNoStore } from '../errors/create.ts';
import { isBusinessRejection } from '../failure/failures.ts';
import { readableError } from '../failure/readable-error.ts';
import type { EventOutlet } from '../observe/events.ts';
import type { Interceptor, StepName } from '../observe/steps.ts';
import type { Clock } from '../time/clock.ts';
import type { ConsumerSettings } from './consumer-options.ts';
import type { HandlerContext } from './handler.ts';
import { messageOf } from './handler-message.ts';
import type { PipelineResult } from './incoming.ts';
import { expiredVerdict, type JudgeOptions, judgeFailure } from './judge-failure.ts';
import type { Runnable, Runner } from './pipeline.ts';
import { returned, TimedRuns } from './timed-run.ts';

export interface PlainRunnerOptions {
  readonly settings: ConsumerSettings;
  readonly judge: JudgeOptions;
  readonly clock: Clock;
  readonly events: EventOutlet;
  readonly intercept: Interceptor | undefined;
  readonly countsByBroker: boolean;
}

/** Runs handlers without an Inbox: effects may repeat, attempts come from headers or the broker. */
export class PlainRunner<Tx> implements Runner<Tx> {
  readonly #options: PlainRunnerOptions;
  readonly #times: TimedRuns;

  constructor(options: PlainRunnerOptions) {
    const { clock, settings } = options;
    this.#options = options;
    this.#times = new TimedRuns(clock, {
      timeoutMs: settings.handlerTimeoutMs,
      consumer: settings.name,
    });
  }

  async run(message: Runnable<Tx>, stop: AbortSignal): Promise<PipelineResult> {
    const { clock, settings, events } = this.#options;
    const startedAtMs = clock.now();
    const timed = this.#times.start(stop);
    let runs: Promise<void> | undefined;
    try {
      await this.#step('handler.before', message);
      const { judged, run, data } = message;
      const context = contextWithoutStore<Tx>(settings.name, judged.attempt, timed.signal);
      runs = (async () => run(messageOf(judged.envelope, data), context))();
      await timed.race(runs);
      runs = undefined;
      await this.#step('handler.after', message);
      const durationMs = clock.now() - startedAtMs;
      events.emit({ event: 'message.applied', durationMs, ...message.ref });
      return { verdict: { step: 'ack' } };
    } catch (error) {
      const { consumer, messageId } = message.ref;
      const lingering =
        runs === undefined || !timed.signal.aborted
          ? undefined
          : returned(clock, runs, () =>
              events.emit({ event: 'handler.stuck', consumer, messageId }),
            );
      return { ...this.#failed(message, readableError(error), stop), lingering };
    } finally {
      timed.end();
    }
  }

  expire({ judged, ref }: Runnable<Tx>): Promise<PipelineResult> {
    const { settings, clock, events } = this.#options;
    if (settings.expired === 'park') {
      return Promise.resolve({ verdict: expiredVerdict(settings, judged, clock.now()) });
    }
    events.emit({ event: 'message.expired', ...ref });
    return Promise.resolve({ verdict: { step: 'ack' } });
  }

  #failed(message: Runnable<Tx>, thrown: unknown, stop: AbortSignal): PipelineResult {
    const { clock, events, judge, countsByBroker, settings } = this.#options;
    if (stop.aborted) return { verdict: { step: 'keep', error: thrown } };
    const error =
      isBusinessRejection(thrown) && thrown.events.length > 0
        ? configNoStore({ what: 'BusinessRejection with events', consumer: settings.name })
        : thrown;
    if (isBusinessRejection(error)) {
      events.emit({ event: 'message.rejected', reason: error.message, ...message.ref });
      return { verdict: { step: 'ack' } };
    }
    const judgement = judgeFailure(judge, {
      message: message.judged,
      error,
      row: undefined,
      nowMs: clock.now(),
      ...(countsByBroker && { brokerCount: message.judged.incoming.nativeCount }),
    });
    events.emit({
      event: 'message.failed',
      ...message.ref,
      attempt: judgement.record.attempt,
      failure: judgement.failure,
      error,
      unrecorded: true,
    });
    return { verdict: judgement.verdict };
  }

  async #step(name: StepName, { judged }: Runnable<Tx>): Promise<void> {
    const { intercept, settings } = this.#options;
    if (intercept === undefined) return;
    const { id, attempt } = judged;
    await intercept(name, { messageId: id, consumer: settings.name, attempt });
  }
}

function contextWithoutStore<Tx>(
  consumer: string,
  attempt: number,
  signal: AbortSignal,
): HandlerContext<Tx> {
  return {
    consumer,
    attempt,
    signal,
    get tx(): Tx {
      throw configNoStore({ what: 'context.tx', consumer });
    },
    outbox: {
      add: () => Promise.reject(configNoStore({ what: 'context.outbox', consumer })),
    },
  };
}
