import type {
  Fault,
  Lane,
  LogReceiver,
  LogSession,
  LogSink,
  Settle,
  Settled,
} from '../driver/driver.ts';
import type { Source } from '../driver/topology.ts';
import { CommitLoop } from '../settle/commit-loop.ts';
import { Fifo } from '../settle/fifo.ts';
import type { Clock } from '../time/clock.ts';
import { wait } from '../time/wait.ts';
import type { Incoming, PipelineResult } from './incoming.ts';
import type { Intake } from './intake.ts';
import { incomingOf, type LogEntry } from './log-entry.ts';
import type { LogLane } from './log-lane.ts';
import type { LogRuns } from './log-runs.ts';
import { OwnedLanes } from './owned-lanes.ts';
import type { Settler } from './settler.ts';
import type { Slots, SlotUser } from './slots.ts';

export interface LogIntakeOptions {
  readonly source: Source;
  readonly session: LogSession;
  readonly slots: Slots;
  readonly settler: Settler;
  readonly clock: Clock;
  readonly run: (incoming: Incoming, stop: AbortSignal) => Promise<PipelineResult>;
  /** Aborts handlers past the shutdown deadline. */
  readonly stop: AbortSignal;
  readonly fault: (fault: Fault, ended: boolean) => void;
  /** Where a lane is read from when nothing was ever committed. */
  readonly start: 'earliest' | 'latest';
  /** Handlers that run at once; bounds how far records start past the prefix. */
  readonly concurrency: number;
  /** Runs of the consumer; they outlive this intake. */
  readonly runs: LogRuns;
  /** Records from `committed` to `low` are gone unread; the lane is read no further. */
  readonly gap: (lane: Lane, committed: bigint, low: bigint) => void;
}

const COMMIT_EVERY_MS = 100;
/** What a driver fetches at once at most. */
const BATCH_BYTES = 1024 * 1024;
const SPAN_PER_HANDLER = 16;
const MIN_SPAN = 64;
/** Before it leaves, a drained intake waits this often and long for a commit that is "not now". */
const LAST_COMMITS = 10;
const LAST_COMMIT_MS = 100;

/** Reads one log source: lanes, keys, held heads, slots, commits. */
export class LogIntake implements Intake, SlotUser {
  readonly isRetry: boolean;
  readonly #options: LogIntakeOptions;
  readonly #stopping = new AbortController();
  readonly #gone = new AbortController();
  /** Lanes that may have a record to start, each at most once. */
  readonly #ready = new Fifo<LogLane>();
  readonly #commits: CommitLoop;
  #receiver: LogReceiver | undefined;
  #lanes: OwnedLanes | undefined;
  #running = 0;
  #unsettled = 0;
  #leaving: Promise<void> | undefined;
  #lastProgressAtMs: number;
  #idle: (() => void)[] = [];

  constructor(options: LogIntakeOptions) {
    const { clock, source } = options;
    this.#options = options;
    this.isRetry = source.feed === 'retry';
    this.#lastProgressAtMs = clock.now();
    this.#commits = new CommitLoop({
      clock,
      everyMs: COMMIT_EVERY_MS,
      owed: () => this.#lanes?.owed() ?? [],
      commit: (marks) => this.#receiver?.commit(marks) ?? Promise.resolve([]),
      failed: (error) => this.#report(error),
    });
  }

  get running(): number {
    return this.#running;
  }

  /** Started and without an outcome; what was only read stays in the log. */
  get unsettled(): number {
    return this.#unsettled;
  }

  get lastProgressAtMs(): number {
    return this.#lastProgressAtMs;
  }

  async open(): Promise<void> {
    const { session, source, start } = this.#options;
    // Joining may take as long as a dead member is waited for; records can come before it ends.
    await session.receive(source, { start, bytes: BATCH_BYTES }, (receiver) =>
      this.#attach(receiver),
    );
    // Closed while it joined: without a word the lanes would stay with nobody.
    if (this.#leaving !== undefined) await this.#leaveReceiver();
  }

  startNext(): boolean {
    for (let lane = this.#ready.shift(); lane !== undefined; lane = this.#ready.shift()) {
      lane.isQueued = false;
      const entry = lane.gone.aborted ? undefined : lane.next();
      if (entry?.record === undefined) continue;
      this.#queue(lane);
      const incoming = incomingOf(entry.record, lane.lane, entry.receivedAtMs);
      lane.begin(entry);
      this.#running += 1;
      this.#unsettled += 1;
      // Never rejects: the pipeline answers with a verdict, the settler ends it.
      void this.#run(lane, entry, incoming);
      return true;
    }
    return false;
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopping'));
    this.#lanes?.drain();
    await this.#receiver?.stop().catch((error: unknown) => this.#report(error));
  }

  async idle(): Promise<void> {
    while (this.#isBusy) await new Promise<void>((resolve) => this.#idle.push(resolve));
    if (this.#stopping.signal.aborted) await this.#leave();
  }

  async close(): Promise<void> {
    this.#stopping.abort(new Error('stopping'));
    await this.#leave();
  }

  lost(): void {
    if (this.#gone.signal.aborted) return;
    const error = new Error('session lost');
    this.#gone.abort(error);
    this.#stopping.abort(error);
    this.#options.slots.remove(this);
    this.#commits.close();
    this.#lanes?.drop();
    this.#wakeIdle();
  }

  get #isBusy(): boolean {
    return this.#running > 0 || this.#unsettled > 0 || this.#lanes?.isDrained === false;
  }

  #attach(receiver: LogReceiver): LogSink {
    const { clock, start, concurrency, runs, gap, fault, slots } = this.#options;
    const lanes = new OwnedLanes(receiver, {
      clock,
      start,
      isRetry: this.isRetry,
      span: Math.max(MIN_SPAN, concurrency * SPAN_PER_HANDLER),
      changed: (lane) => this.#changed(lane),
      runs,
      gap,
      fault,
    });
    this.#receiver = receiver;
    this.#lanes = lanes;
    const gone = this.#gone.signal;
    if (!gone.aborted) slots.add(this);
    if (this.#stopping.signal.aborted) lanes.drain();
    return {
      assigned(at) {
        if (!gone.aborted) lanes.assigned(at);
      },
      unsettled: (lane, epoch) => {
        // Never rejects. The lane may move: what is finished is committed before.
        if (lanes.owns(lane, epoch)) void this.#commits.flush();
      },
      revoked: (lane, epoch) => lanes.revoked(lane, epoch),
      delivered: (batch) => {
        if (lanes.delivered(batch)) this.#lastProgressAtMs = clock.now();
      },
      fault: (reported, ended) => {
        if (ended) this.lost();
        fault(reported, ended);
      },
    };
  }

  async #run(lane: LogLane, entry: LogEntry, incoming: Incoming): Promise<void> {
    const { run, stop, settler, clock } = this.#options;
    const { verdict, lingering } = await run(incoming, stop);
    this.#lastProgressAtMs = clock.now();
    if (lingering === undefined) this.#free();
    else void lingering.then(() => this.#free());
    const unsettled = { incoming, settle: (how: Settle) => this.#settle(lane, entry, how) };
    const stopping = this.#stopping.signal;
    await settler.settle(unsettled, verdict, { gone: lane.gone, stopping });
    this.#unsettled -= 1;
    lane.end(entry);
    this.#wakeIdle();
  }

  /** Only an ack is an outcome; everything else leaves the record unfinished. */
  #settle(lane: LogLane, entry: LogEntry, { do: how }: Settle): Promise<Settled> {
    return Promise.resolve(how !== 'ack' || lane.finish(entry) ? 'ok' : 'stale');
  }

  #free(): void {
    this.#running -= 1;
    this.#options.slots.free();
    this.#wakeIdle();
  }

  #changed(lane: LogLane): void {
    if (!lane.gone.aborted) {
      if (lane.ledger.isOwed) this.#commits.touch();
      this.#queue(lane);
      this.#options.slots.fill();
    }
    if (this.#stopping.signal.aborted) this.#wakeIdle();
  }

  #queue(lane: LogLane): void {
    if (lane.isQueued || lane.gone.aborted) return;
    lane.isQueued = true;
    this.#ready.push(lane);
  }

  /** Commits what is finished, then gives the lanes up; once. */
  #leave(): Promise<void> {
    this.#leaving ??= this.#commitAndLeave();
    return this.#leaving;
  }

  async #commitAndLeave(): Promise<void> {
    const gone = this.#gone.signal;
    for (let tries = 0; tries < LAST_COMMITS && !gone.aborted; tries += 1) {
      await this.#commits.flush();
      if (this.#lanes?.isOwed !== true) break;
      await wait(this.#options.clock, LAST_COMMIT_MS, gone);
    }
    const isLost = gone.aborted;
    this.lost();
    if (!isLost) await this.#leaveReceiver();
  }

  async #leaveReceiver(): Promise<void> {
    await this.#receiver?.leave().catch((error: unknown) => this.#report(error));
  }

  #report(error: unknown): void {
    this.#options.fault({ kind: 'unknown', error }, false);
  }

  #wakeIdle(): void {
    for (const wake of this.#idle.splice(0)) wake();
  }
}
