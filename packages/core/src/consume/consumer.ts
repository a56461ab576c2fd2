import type { Fault } from '../driver/driver.ts';
import type { Plan, Source } from '../driver/topology.ts';
import { consumeIntake } from '../errors/create.ts';
import { MessagingError } from '../errors/messaging-error.ts';
import { type BackoffOptions, backoffMs, Tries } from '../lifecycle/backoff.ts';
import type { Session } from '../lifecycle/connection.ts';
import { TaskGroup } from '../lifecycle/task-group.ts';
import type { EventOutlet } from '../observe/events.ts';
import type { Interceptor } from '../observe/steps.ts';
import type { Sender } from '../publish/sender.ts';
import type { Clock } from '../time/clock.ts';
import { settledWithin, wait } from '../time/wait.ts';
import type { ConsumerSettings } from './consumer-options.ts';
import type { Incoming, PipelineResult } from './incoming.ts';
import type { Intake } from './intake.ts';
import { LogIntake } from './log-intake.ts';
import { LogRuns } from './log-runs.ts';
import { QueueIntake } from './queue-intake.ts';
import { Settler } from './settler.ts';
import { Slots } from './slots.ts';

export interface ConsumerContext {
  /** For the texts of errors. */
  readonly broker: string;
  readonly settings: ConsumerSettings;
  readonly plan: Plan;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly random: () => number;
  readonly events: EventOutlet;
  readonly intercept: Interceptor | undefined;
  readonly backoff: BackoffOptions;
  readonly copyTimeoutMs: number;
  readonly destinationOf: (type: string | undefined) => string | undefined;
  /** Applies the topology again by the mode of the bus. */
  readonly reapply: (session: Session) => Promise<void>;
  /** The pipeline for the capabilities of a session. */
  readonly pipeline: (session: Session) => {
    run(incoming: Incoming, stop: AbortSignal): Promise<PipelineResult>;
  };
}

/** What a stopped consumer left behind; all zero after a clean drain. */
export interface Leftovers {
  readonly running: number;
  readonly unsettled: number;
}

/** One durable named subscription: its intakes follow the session, its slots span them. */
export class Consumer {
  readonly #context: ConsumerContext;
  readonly #slots: Slots;
  readonly #abort = new AbortController();
  readonly #stopping = new AbortController();
  readonly #reopening: TaskGroup;
  readonly #intakes = new Map<Source, Intake>();
  /** Ended with their session or receiver, while handlers of theirs still run. */
  readonly #past = new Set<Intake>();
  /** By address: failures of a source's receivers in a row. */
  readonly #tries = new Map<string, Tries>();
  readonly #logRuns = new LogRuns();
  #session: Session | undefined;

  constructor(context: ConsumerContext) {
    this.#context = context;
    this.#slots = new Slots(context.settings.concurrency);
    this.#reopening = new TaskGroup((error) => this.#fault('reopen', { kind: 'unknown', error }));
  }

  get name(): string {
    return this.#context.settings.name;
  }

  /** True while every source of the consumer is being read. */
  get reading(): boolean {
    const { plan } = this.#context;
    return this.#intakes.size === sourcesOf(plan, this.name).length;
  }

  /** Reads all sources over a new session. Rejects when one cannot be opened. */
  async attach(session: Session): Promise<void> {
    this.#session = session;
    const sources = sourcesOf(this.#context.plan, this.name);
    await Promise.all(sources.map((source) => this.#open(source, session)));
  }

  detach(): void {
    this.#session = undefined;
    for (const intake of this.#intakes.values()) {
      intake.lost();
      this.#leave(intake);
    }
    this.#intakes.clear();
  }

  /** Nothing of it can be settled any more, but what runs is waited for at the end. */
  #leave(intake: Intake): void {
    this.#past.add(intake);
    // Never rejects: nothing is left to give back.
    void intake.idle().then(() => this.#past.delete(intake));
  }

  /**
   * Stops intake, releases what was not started, lets handlers finish and settle. Past the deadline
   * handlers are aborted, what they held is released.
   */
  async stop(timeoutMs: number): Promise<Leftovers> {
    const { clock } = this.#context;
    const endMs = clock.now() + timeoutMs;
    const leftMs = (): number => Math.min(CLOSE_MS, Math.max(LAST_MS, endMs - clock.now()));
    this.#stopping.abort(new Error('stopping'));
    const intakes = [...this.#intakes.values()];
    const past = [...this.#past];
    const drained = Promise.all([
      ...intakes.map(async (intake) => {
        await intake.stop();
        await intake.idle();
      }),
      ...past.map((intake) => intake.idle()),
    ]);
    let leftovers: Leftovers = { running: 0, unsettled: 0 };
    if (!(await settledWithin(clock, timeoutMs, drained))) {
      leftovers = sum([...intakes, ...past]);
      this.#abort.abort(new Error('the shutdown deadline has passed'));
      await settledWithin(clock, ABORT_GRACE_MS, drained);
    }
    await settledWithin(clock, leftMs(), Promise.all(intakes.map((intake) => intake.close())));
    // One that waits for a broker without an answer ends with the session.
    await settledWithin(clock, leftMs(), this.#reopening.idle());
    this.#intakes.clear();
    return leftovers;
  }

  async #open(source: Source, session: Session): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    const { clock, settings } = this.#context;
    const { capabilities } = session;
    const settler = new Settler({ ...this.#context, capabilities });
    const pipeline = this.#context.pipeline(session);
    const common = {
      source,
      slots: this.#slots,
      settler,
      clock,
      run: (incoming: Incoming, stop: AbortSignal) => pipeline.run(incoming, stop),
      stop: this.#abort.signal,
      fault: (fault: Fault, ended: boolean) => {
        this.#fault(source.address, fault);
        if (ended && this.#intakes.get(source) === intake) {
          this.#intakes.delete(source);
          this.#leave(intake);
          this.#reopening.run(() => this.#reopen(source, session));
        }
      },
    };
    const intake =
      session.kind === 'queue'
        ? new QueueIntake({ ...common, session, window: windowOf(settings, source) })
        : new LogIntake({
            ...common,
            session,
            start: settings.start,
            concurrency: settings.concurrency,
            runs: this.#logRuns,
            gap: (lane, committed, low) =>
              this.#context.events.emit({
                event: 'log.gap',
                consumer: this.name,
                lane,
                committed,
                low,
              }),
          });
    this.#intakes.set(source, intake);
    try {
      await intake.open();
      this.#triesOf(source).opened();
    } catch (error) {
      intake.lost();
      if (this.#intakes.get(source) === intake) this.#intakes.delete(source);
      throw error;
    }
  }

  /** The session lives, one of its receivers ended: opened again with back-off. */
  async #reopen(source: Source, session: Session): Promise<void> {
    const { clock, random, backoff, reapply } = this.#context;
    while (this.#session === session) {
      const ms = backoffMs(this.#triesOf(source).failed(), random(), backoff);
      if (!(await wait(clock, ms, this.#stopping.signal))) return;
      if (this.#session !== session) return;
      try {
        await reapply(session);
        if (this.#session !== session) return;
        await this.#open(source, session);
        return;
      } catch (error) {
        this.#fault(source.address, { kind: 'unknown', error });
      }
    }
  }

  #triesOf({ address }: Source): Tries {
    let tries = this.#tries.get(address);
    if (tries === undefined) {
      tries = new Tries(this.#context.clock);
      this.#tries.set(address, tries);
    }
    return tries;
  }

  #fault(source: string, { kind, error: cause }: Fault): void {
    const { broker, events } = this.#context;
    const consumer = this.name;
    const error = MessagingError.is(cause)
      ? cause
      : consumeIntake({ broker, consumer, source, cause });
    events.emit({ event: 'intake.fault', consumer, source, kind, error });
  }
}

/** After their abort, handlers that respect the signal have this long to give their slot back. */
const ABORT_GRACE_MS = 1_000;
const CLOSE_MS = 5_000;
/** For what a broker that answers does at once, when nothing is left of the shutdown's time. */
const LAST_MS = 500;

/** Unsettled deliveries are bounded to three times the handlers that run at once. */
function windowOf({ concurrency }: ConsumerSettings, { feed }: Source): number {
  return feed === 'retry' ? Math.max(2, concurrency) : Math.max(4, concurrency * 3);
}

/** What a consumer reads by itself; parking lots and dead-letter queues are read on request. */
function sourcesOf(plan: Plan, consumer: string): readonly Source[] {
  return plan.sources(consumer).filter(({ feed }) => feed === 'live' || feed === 'retry');
}

function sum(intakes: readonly Intake[]): Leftovers {
  let running = 0;
  let unsettled = 0;
  for (const intake of intakes) {
    running += intake.running;
    unsettled += intake.unsettled;
  }
  return { running, unsettled };
}
