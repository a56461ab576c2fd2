import { MessagingError } from '../errors/messaging-error.ts';
import { type BusinessRejection, isBusinessRejection } from '../failure/failures.ts';
import type { StepName } from '../observe/steps.ts';
import { decideOrder } from '../order/decide-order.ts';
import type { AttemptRow, Claimed, UnitOfWork } from '../store/inbox-store.ts';
import { deadline } from '../time/deadline.ts';
import { BufferedOutbox } from './buffered-outbox.ts';
import { claimOf, outcomeOf } from './claim-of.ts';
import { messageOf, parentOf } from './handler-message.ts';
import type { InboxRunnerOptions } from './inbox-runner.ts';
import type { PipelineResult, Verdict } from './incoming.ts';
import {
  expiredVerdict,
  givenUpReason,
  type Judgement,
  judgeFailure,
  parkedRecord,
} from './judge-failure.ts';
import type { Runnable } from './pipeline.ts';
import { recordFailure } from './record-failure.ts';
import { recordedError } from './recorded-error.ts';
import { returned, type TimedRun } from './timed-run.ts';

/** `again`: undone, worth repeating at once inside the slot. */
export type Ended = PipelineResult | 'again';
export type Work = 'handle' | 'expire';

/** One pass through the Inbox transaction. */
export class InboxRun<Tx> {
  readonly #options: InboxRunnerOptions<Tx>;
  readonly #message: Runnable<Tx>;
  readonly #timed: TimedRun;
  readonly #stop: AbortSignal;
  readonly #startedAtMs: number;
  /** Nearly always false: a step that nobody watches costs nothing. */
  readonly #watched: boolean;
  #unit: UnitOfWork<Tx> | undefined;
  #row: AttemptRow | undefined;
  #committed = false;
  #handlerRuns: Promise<void> | undefined;

  constructor(
    options: InboxRunnerOptions<Tx>,
    message: Runnable<Tx>,
    timed: TimedRun,
    stop: AbortSignal,
  ) {
    this.#options = options;
    this.#message = message;
    this.#timed = timed;
    this.#stop = stop;
    this.#startedAtMs = options.clock.now();
    this.#watched = options.intercept !== undefined;
  }

  async through(work: Work): Promise<PipelineResult> {
    const { store } = this.#options;
    const unit = await store.inbox.begin(
      [claimOf(this.#options.settings, this.#message.judged, false)],
      this.#timed.signal,
    );
    this.#unit = unit;
    this.#timed.restart();
    const claimed = unit.claimed[0];
    if (claimed === undefined || !claimed.fresh) return await this.#duplicate(unit);
    if (this.#watched) await this.#step('inbox.claimed');
    this.#row = this.#currentCycle(claimed.attempts);
    const early = await this.#notNow(unit);
    if (early !== undefined) return early;
    if (this.#isStale(claimed)) return await this.#settleAs(unit, 'stale');
    if (work === 'expire') return await this.#expire(unit);
    return await this.#handle(unit);
  }

  #isStale({ lastVersion }: Claimed): boolean {
    const { order } = this.#options.settings;
    const version = this.#message.judged.envelope.aggregate?.version;
    return decideOrder(order, { version, lastVersion }) === 'stale';
  }

  async #handle(unit: UnitOfWork<Tx>): Promise<PipelineResult> {
    const { writer, settings } = this.#options;
    const { judged, run, data } = this.#message;
    if (this.#watched) await this.#step('handler.before');
    const { signal } = this.#timed;
    const outbox = new BufferedOutbox(writer, unit.tx, parentOf(judged), signal);
    const context = {
      tx: unit.tx,
      outbox,
      signal,
      attempt: Math.max((this.#row?.attempts ?? 0) + 1, judged.headers.attempt),
      consumer: settings.name,
    };
    const runs = (async () => run(messageOf(judged.envelope, data), context))();
    this.#handlerRuns = runs;
    await this.#timed.race(runs);
    this.#handlerRuns = undefined;
    if (outbox.adding !== undefined) await this.#timed.race(outbox.adding);
    if (this.#watched) await this.#step('handler.after');
    if (this.#watched) await this.#step('commit.before');
    await this.#commit(unit, 'applied', outbox);
    if (this.#watched) await this.#step('commit.after');
    const durationMs = this.#options.clock.now() - this.#startedAtMs;
    const { attempt } = context;
    this.#options.events.emit({
      event: 'message.applied',
      durationMs,
      ...this.#message.ref,
      attempt,
    });
    return ACK;
  }

  async #expire(unit: UnitOfWork<Tx>): Promise<PipelineResult> {
    const { settings, clock, events } = this.#options;
    const { judged, ref } = this.#message;
    if (settings.expired === 'park') {
      await unit.rollback();
      return { verdict: expiredVerdict(settings, judged, clock.now()) };
    }
    const result = await this.#settleAs(unit, 'expired');
    events.emit({ event: 'message.expired', ...ref });
    return result;
  }

  /** Early, or a decision to park that was recorded before a crash: nothing is run. */
  async #notNow(unit: UnitOfWork<Tx>): Promise<PipelineResult | undefined> {
    const { clock, settings } = this.#options;
    const row = this.#row;
    if (row === undefined) return undefined;
    const { judged } = this.#message;
    const nowMs = clock.now();
    if (row.dueAtMs !== undefined) {
      if (row.dueAtMs <= nowMs && row.attempts < settings.retry.maxAttempts) return undefined;
      if (row.dueAtMs > nowMs) {
        await unit.rollback();
        const attempt = Math.max(row.attempts + 1, judged.headers.attempt);
        const message = { ...judged, attempt, unknowns: Math.max(row.unknowns, judged.unknowns) };
        return { verdict: { step: 'defer', message, dueAtMs: row.dueAtMs } };
      }
    }
    await unit.rollback();
    const reason = givenUpReason(settings.retry, row);
    const error = recordedError(row);
    const message = { ...judged, attempt: row.attempts, unknowns: row.unknowns };
    const record = parkedRecord(settings, reason, { message, error, row, nowMs });
    return { verdict: { step: 'park', message, record } };
  }

  /** The run ended in an error. Never throws. */
  async failed(error: unknown, mayRepeat: boolean): Promise<Ended> {
    const { store } = this.#options;
    // After COMMIT the effect stands: only an interceptor can fail here. The redelivery is a duplicate.
    if (this.#committed) return keep(error);
    const lingering = this.#lingering();
    if (this.#stop.aborted) {
      await this.#unit?.rollback();
      return { ...keep(error), lingering };
    }
    if (isBusinessRejection(error)) return await this.#rejected(error, mayRepeat);
    // The claim was waited for until the time was over: nothing ran, so nothing is counted.
    if (this.#unit === undefined && this.#timed.signal.aborted) return keep(error);
    const kind = store.classify(error);
    if (kind === 'again' && mayRepeat) {
      await this.#unit?.rollback();
      return 'again';
    }
    const result = await this.#judge(error, kind === 'down');
    return { ...result, lingering };
  }

  async #judge(error: unknown, storeDown: boolean): Promise<PipelineResult> {
    const { clock, events, judge, countsByBroker } = this.#options;
    const { judged, ref } = this.#message;
    const unrecorded = countsByBroker ? { brokerCount: judged.incoming.nativeCount } : {};
    const judgeBy = (row: AttemptRow | undefined, more = {}): Judgement =>
      judgeFailure(judge, { message: judged, error, row, nowMs: clock.now(), ...more });
    let judgement: Judgement | undefined;
    if (storeDown) await this.#unit?.rollback();
    const recorded = storeDown
      ? 'no'
      : await recordFailure(this.#options, {
          unit: this.#unit,
          row: this.#row,
          claim: claimOf(this.#options.settings, this.#message.judged, true),
          judge: (row) => {
            judgement = judgeBy(this.#currentCycle(row));
            return judgement.record;
          },
          ref,
        });
    if (recorded === 'duplicate') return ACK;
    if (recorded === 'no' || judgement === undefined) judgement = judgeBy(this.#row, unrecorded);
    events.emit({
      event: 'message.failed',
      ...ref,
      attempt: judgement.record.attempt,
      failure: judgement.failure,
      error,
      unrecorded: recorded === 'no',
    });
    try {
      if (this.#watched) await this.#step('attempt.recorded');
    } catch (stepError) {
      return keep(stepError);
    }
    // The effect may be stored: what cannot be tried again is not given up, the Inbox decides.
    const mayBeApplied = MessagingError.is(error, 'MSG_STORE_COMMIT_UNKNOWN');
    if (mayBeApplied && judgement.verdict.step === 'park') return keep(error);
    return { verdict: judgement.verdict };
  }

  /** The handler took its effect back: claim and result are committed by a second transaction. */
  async #rejected(rejection: BusinessRejection, mayRepeat: boolean): Promise<Ended> {
    const { store, writer, events, clock, settings } = this.#options;
    await this.#unit?.rollback();
    this.#unit = undefined;
    const { signal, end } = deadline(clock, settings.handlerTimeoutMs, 'recording a rejection');
    try {
      const unit = await store.inbox.begin(
        [claimOf(this.#options.settings, this.#message.judged, true)],
        signal,
      );
      this.#unit = unit;
      const claimed = unit.claimed[0];
      if (claimed?.fresh !== true) return await this.#duplicate(unit);
      // A higher version may have been applied since the first transaction.
      if (this.#isStale(claimed)) return await this.#settleAs(unit, 'stale');
      const parent = parentOf(this.#message.judged);
      const outbox = new BufferedOutbox(writer, unit.tx, parent, signal);
      await outbox.add(...rejection.events);
      if (this.#watched) await this.#step('commit.before');
      await this.#commit(unit, 'rejected', outbox);
      if (this.#watched) await this.#step('commit.after');
    } catch (error) {
      if (isBusinessRejection(error)) return keep(error);
      return await this.failed(error, mayRepeat);
    } finally {
      end();
    }
    events.emit({ event: 'message.rejected', reason: rejection.message, ...this.#message.ref });
    return ACK;
  }

  async #duplicate(unit: UnitOfWork<Tx>): Promise<PipelineResult> {
    await unit.rollback();
    this.#options.events.emit({ event: 'message.duplicate', ...this.#message.ref });
    return ACK;
  }

  async #settleAs(unit: UnitOfWork<Tx>, outcome: 'stale' | 'expired'): Promise<PipelineResult> {
    await unit.commit({ outcomes: [{ outcome }], outbox: [] });
    this.#committed = true;
    if (outcome === 'stale') {
      this.#options.events.emit({ event: 'message.stale', ...this.#message.ref });
    }
    if (this.#watched) await this.#step('commit.after');
    return ACK;
  }

  async #commit(
    unit: UnitOfWork<Tx>,
    outcome: 'applied' | 'rejected',
    messages: BufferedOutbox<Tx>,
  ): Promise<void> {
    const outbox = messages.end();
    await unit.commit({
      outcomes: [outcomeOf(this.#options.settings, this.#message.judged, outcome)],
      outbox,
    });
    this.#committed = true;
    if (outbox.length > 0) this.#options.outboxFilled();
  }

  /** Counts of an earlier redrive cycle do not bind this one. */
  #currentCycle(row: AttemptRow | undefined): AttemptRow | undefined {
    if (row === undefined) return undefined;
    return this.#message.judged.headers.cycle > row.redriveCount ? undefined : row;
  }

  #lingering(): Promise<void> | undefined {
    if (this.#handlerRuns === undefined || !this.#timed.signal.aborted) return undefined;
    const { events, clock } = this.#options;
    const { consumer, messageId } = this.#message.ref;
    return returned(clock, this.#handlerRuns, () =>
      events.emit({ event: 'handler.stuck', consumer, messageId }),
    );
  }

  async #step(name: StepName): Promise<void> {
    const { intercept, settings } = this.#options;
    const { id, attempt } = this.#message.judged;
    await intercept?.(name, { messageId: id, consumer: settings.name, attempt });
  }
}

const ACK: PipelineResult = { verdict: { step: 'ack' } };

const keep = (error: unknown): { verdict: Verdict } => ({ verdict: { step: 'keep', error } });
