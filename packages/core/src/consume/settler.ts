import type { Capabilities } from '../driver/capabilities.ts';
import type { Outgoing, Settle, Settled } from '../driver/driver.ts';
import type { Plan, Target } from '../driver/topology.ts';
import { type BackoffOptions, backoffMs } from '../lifecycle/backoff.ts';
import type { EventOutlet } from '../observe/events.ts';
import type { Interceptor, StepName } from '../observe/steps.ts';
import type { Sender, SendOutcome } from '../publish/sender.ts';
import { type Held, holdDelay } from '../retry/hold-delay.ts';
import type { Clock } from '../time/clock.ts';
import { wait } from '../time/wait.ts';
import type { ConsumerSettings } from './consumer-options.ts';
import { deferCopy, leanCopy, parkCopy, retryCopy } from './copy.ts';
import type { Incoming, Judged, Verdict } from './incoming.ts';
import { refOf } from './message-ref.ts';

/** A delivery or record that waits for its end. */
export interface Unsettled {
  readonly incoming: Incoming;
  settle(how: Settle): Promise<Settled>;
}

export interface SettlerOptions {
  readonly settings: ConsumerSettings;
  readonly plan: Plan;
  readonly capabilities: Capabilities;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly random: () => number;
  readonly events: EventOutlet;
  readonly intercept: Interceptor | undefined;
  readonly backoff: BackoffOptions;
  readonly copyTimeoutMs: number;
  /** Where a message of this type was published to, as far as the consumer knows. */
  readonly destinationOf: (type: string | undefined) => string | undefined;
}

/** `gone`: the session is lost, nothing can be settled. `stopping`: nothing is tried again. */
export interface Ending {
  readonly gone: AbortSignal;
  readonly stopping: AbortSignal;
}

type Later = Extract<Verdict, { step: 'retry' | 'defer' }>;

/**
 * Acts on verdicts: copy → confirmed → ack. Nothing is acked before its outcome is durable; a copy
 * that is not confirmed is tried again with back-off while the source keeps the message.
 */
export class Settler {
  readonly #options: SettlerOptions;

  constructor(options: SettlerOptions) {
    this.#options = options;
  }

  /**
   * What is not durable when the session is lost or the bus stops is released. Never rejects.
   */
  async settle(unsettled: Unsettled, verdict: Verdict, ending: Ending): Promise<void> {
    try {
      switch (verdict.step) {
        case 'ack':
          return this.#options.intercept === undefined
            ? await this.#settled(unsettled, ACK, undefined)
            : await this.#ack(unsettled, undefined);
        case 'keep':
          return await this.#keep(unsettled, verdict.error, ending);
        case 'park':
          return await this.#park(unsettled, verdict, ending);
        default:
          return await this.#later(unsettled, verdict, ending);
      }
    } catch (error) {
      // An interceptor failed: what it stood before has not happened, so the source keeps the message.
      await this.#keep(unsettled, error, ending);
    }
  }

  async #later(unsettled: Unsettled, verdict: Later, ending: Ending): Promise<void> {
    const { settings, capabilities, clock, events } = this.#options;
    const nowMs = clock.now();
    const wantMs =
      verdict.step === 'retry' ? verdict.delayMs : Math.max(1, verdict.dueAtMs - nowMs);
    const held = holdDelay(capabilities.delays, settings.retry.delaysMs, wantMs);
    if (held === undefined) return await this.#keep(unsettled, new Error('no delay'), ending);
    const { message } = verdict;
    if (held.by === 'return' || held.by === 'return-linear') {
      await this.#step('return.before', message);
      await this.#settled(unsettled, { do: 'return', delayMs: held.delayMs }, message);
    } else if (!(await this.#copied(unsettled, verdict, held, ending))) return;
    if (!events.hasListeners) return;
    const ref = refOf(settings, message);
    if (verdict.step === 'defer') {
      events.emit({ event: 'message.deferred', dueAtMs: verdict.dueAtMs, ...ref });
    } else {
      const { dueAtMs, delayMs } = verdict;
      events.emit({ event: 'message.retried', dueAtMs, delayMs, ...ref });
    }
  }

  async #copied(
    unsettled: Unsettled,
    verdict: Later,
    held: Held,
    ending: Ending,
  ): Promise<boolean> {
    const { settings } = this.#options;
    const { message, dueAtMs } = verdict;
    const target: Target = { at: 'retry', consumer: settings.name, delayMs: held.delayMs };
    const copy =
      verdict.step === 'retry'
        ? retryCopy(message, { consumer: settings.name, dueAtMs, error: verdict.error })
        : deferCopy(message, { consumer: settings.name, dueAtMs });
    // A chained delay is shorter than wanted: the due gate puts the message off again.
    const notBeforeMs = held.chained ? this.#options.clock.now() + held.delayMs : dueAtMs;
    const timed = held.by === 'copy-at' ? { ...copy, notBeforeMs } : copy;
    await this.#step('retry.copy.before', message);
    if (!(await this.#confirmed(timed, target, message, ending))) {
      await this.#release(unsettled, message);
      return false;
    }
    await this.#step('retry.copy.confirmed', message);
    await this.#ack(unsettled, message);
    return true;
  }

  async #park(
    unsettled: Unsettled,
    verdict: Extract<Verdict, { step: 'park' }>,
    ending: Ending,
  ): Promise<void> {
    const { settings, events, destinationOf } = this.#options;
    const { message } = verdict;
    const destination = destinationOf(message.envelope?.type);
    const record = { ...verdict.record, ...(destination !== undefined && { destination }) };
    const target: Target = { at: 'parking', consumer: settings.name };
    await this.#step('park.copy.before', message);
    const copy = parkCopy(message, { consumer: settings.name, record });
    if (!(await this.#confirmed(copy, target, message, ending))) {
      return await this.#release(unsettled, message);
    }
    await this.#step('park.copy.confirmed', message);
    await this.#ack(unsettled, message);
    const error = record.errorText;
    const { reason } = record;
    events.emit({ event: 'message.parked', reason, error, ...refOf(settings, message) });
  }

  /** Until the copy is confirmed, or the signal aborts. */
  async #confirmed(
    copy: Omit<Outgoing, 'to'>,
    target: Target,
    message: Judged,
    ending: Ending,
  ): Promise<boolean> {
    const { plan, sender, clock, random, events, settings, backoff, copyTimeoutMs } = this.#options;
    const { idChars } = this.#options.capabilities;
    let sent = copy;
    for (let tries = 0; ; tries += 1) {
      const to = plan.address(target)[0];
      const outcome: SendOutcome =
        to === undefined
          ? { is: 'rejected', kind: 'refused', error: new Error(`no address for ${target.at}`) }
          : await sender.send({ ...sent, to }, { deadlineMs: copyTimeoutMs, signal: ending.gone });
      if (outcome.is === 'confirmed') return true;
      if (ending.gone.aborted || ending.stopping.aborted) return false;
      // A message that can never be put off or parked would hold its place in the window for ever.
      const isLeaner = sent === copy && isUnfit(outcome);
      if (isLeaner) sent = leanCopy(copy, idChars);
      const nextTryInMs = isLeaner ? 0 : backoffMs(tries, random(), backoff);
      events.emit({
        event: 'copy.failed',
        to: target.at === 'parking' ? 'parking' : 'retry',
        error: outcome.error,
        tries: tries + 1,
        nextTryInMs,
        ...refOf(settings, message),
      });
      if (!isLeaner && !(await wait(clock, nextTryInMs, ending.stopping))) return false;
    }
  }

  async #ack(unsettled: Unsettled, message: Judged | undefined): Promise<void> {
    if (this.#options.intercept !== undefined) await this.#ackStep('ack.before', unsettled);
    await this.#settled(unsettled, ACK, message);
    if (this.#options.intercept !== undefined) await this.#ackStep('ack.after', unsettled);
  }

  /** Nothing durable is known: back to the source, with a delay, so that nothing loops hot. */
  async #keep(unsettled: Unsettled, error: unknown, ending: Ending): Promise<void> {
    const { clock, random, events, backoff } = this.#options;
    events.emit({ event: 'store.failed', during: 'a delivery that was kept', error });
    await wait(clock, backoffMs(3, random(), backoff), ending.stopping);
    await this.#settled(unsettled, { do: 'release' }, undefined);
  }

  async #release(unsettled: Unsettled, message: Judged): Promise<void> {
    await this.#settled(unsettled, { do: 'release' }, message);
  }

  async #settled(unsettled: Unsettled, how: Settle, message: Judged | undefined): Promise<void> {
    const result = await unsettled.settle(how);
    if (result === 'ok') return;
    const { settings, events } = this.#options;
    const ref =
      message === undefined
        ? { consumer: settings.name, messageId: unsettled.incoming.native.id ?? '', attempt: 0 }
        : refOf(settings, message);
    events.emit({ event: 'settle.lost', how: how.do, result, ...ref });
  }

  async #step(name: StepName, { id, attempt }: Judged): Promise<void> {
    const { intercept, settings } = this.#options;
    await intercept?.(name, { messageId: id, consumer: settings.name, attempt });
  }

  async #ackStep(name: StepName, { incoming }: Unsettled): Promise<void> {
    const { intercept, settings } = this.#options;
    await intercept?.(name, { messageId: incoming.native.id ?? '', consumer: settings.name });
  }
}

const ACK: Settle = Object.freeze({ do: 'ack' });

/** The same bytes are refused again, however long one waits. */
function isUnfit(outcome: SendOutcome): boolean {
  return outcome.is === 'rejected' && (outcome.kind === 'too-large' || outcome.kind === 'invalid');
}
