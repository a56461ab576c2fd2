import { readableError } from '../failure/readable-error.ts';
import type { EventOutlet } from '../observe/events.ts';
import type { Interceptor } from '../observe/steps.ts';
import type { OutboxWriter } from '../outbox/outbox-writer.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';
import type { ConsumerSettings } from './consumer-options.ts';
import { InboxRun, type Work } from './inbox-run.ts';
import type { PipelineResult } from './incoming.ts';
import type { JudgeOptions } from './judge-failure.ts';
import type { Runnable, Runner } from './pipeline.ts';
import { TimedRuns } from './timed-run.ts';

export interface InboxRunnerOptions<Tx> {
  readonly settings: ConsumerSettings;
  readonly store: Store<Tx>;
  readonly writer: OutboxWriter<Tx>;
  readonly judge: JudgeOptions;
  readonly clock: Clock;
  readonly events: EventOutlet;
  readonly intercept: Interceptor | undefined;
  /** Delays are held by returning the delivery, so no header can carry the count. */
  readonly countsByBroker: boolean;
  /** Outbox rows were committed. */
  readonly outboxFilled: () => void;
}

/** Deadlocks and serialization failures are repeated this often inside the slot, without an attempt. */
const REPEATS = 3;

/** One effect per (consumer, message id): claim, order gate, handler and outbox in one transaction. */
export class InboxRunner<Tx> implements Runner<Tx> {
  readonly #options: InboxRunnerOptions<Tx>;
  readonly #times: TimedRuns;

  constructor(options: InboxRunnerOptions<Tx>) {
    const { clock, settings } = options;
    this.#options = options;
    this.#times = new TimedRuns(clock, {
      timeoutMs: settings.handlerTimeoutMs,
      consumer: settings.name,
    });
  }

  run(message: Runnable<Tx>, stop: AbortSignal): Promise<PipelineResult> {
    return this.#repeat(message, stop, 'handle');
  }

  expire(message: Runnable<Tx>, stop: AbortSignal): Promise<PipelineResult> {
    return this.#repeat(message, stop, 'expire');
  }

  async #repeat(message: Runnable<Tx>, stop: AbortSignal, work: Work): Promise<PipelineResult> {
    let current = message;
    for (let tries = 0; ; tries += 1) {
      const timed = this.#times.start(stop);
      const run = new InboxRun(this.#options, current, timed, stop);
      try {
        return await run.through(work);
      } catch (error) {
        const ended = await run.failed(readableError(error), tries < REPEATS);
        if (ended !== 'again') return ended;
      } finally {
        timed.end();
      }
      current = { ...message, data: await message.dataAgain() };
    }
  }
}
