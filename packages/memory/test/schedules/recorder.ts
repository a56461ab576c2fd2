import { BusinessRejection, type HandlerContext, type Message, MessagingError } from '@ackord/core';
import type { Clock } from '@ackord/core/driver';
import { MemoryStoreError } from '../../src/index.ts';
import { delayAfterMs } from './messages.ts';

/** One run of a handler as it saw it. */
export interface Run {
  readonly process: object;
  readonly attempt: number;
  readonly startedAtMs: number;
  end: 'open' | 'ok' | 'failed' | 'stopped' | 'again';
  endedAtMs: number;
  /** The failure is in the attempt row. */
  isRecorded: boolean;
  /** The store could be asked when it failed. */
  canBeRecorded: boolean;
}

/** What handlers and steps tell; kept outside of the code under test. */
export class Recorder {
  readonly runs = new Map<string, Run[]>();
  readonly violations: string[] = [];
  readonly #clock: Clock;
  isStoreUp = true;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  runsOf(consumer: string, id: string): readonly Run[] {
    return this.runs.get(`${consumer} ${id}`) ?? [];
  }

  violated(text: string): void {
    this.violations.push(`${text} (at ${this.#clock.now() - Date.UTC(2026, 0, 1)} ms)`);
  }

  started(process: object, { id }: Message, { consumer, attempt, signal }: HandlerContext): Run {
    const key = `${consumer} ${id}`;
    const now = this.#clock.now();
    const before = this.runs.get(key) ?? [];
    const last = before.findLast(({ isRecorded }) => isRecorded);
    if (last !== undefined && now < last.endedAtMs + delayAfterMs(last.attempt)) {
      this.violated(`I6: ${key} ran ${now - last.endedAtMs} ms after attempt ${last.attempt}`);
    }
    const run: Run = {
      process,
      attempt,
      startedAtMs: now,
      end: 'open',
      endedAtMs: 0,
      isRecorded: false,
      canBeRecorded: false,
    };
    this.runs.set(key, [...before, run]);
    signal.addEventListener('abort', () => this.ended(run, signal.reason), { once: true });
    return run;
  }

  /** The first end counts: what a handler does after its timeout is no outcome. */
  ended(run: Run, error: unknown): void {
    if (run.end !== 'open') return;
    run.endedAtMs = this.#clock.now();
    const isStoreError = error instanceof MemoryStoreError;
    if (error === undefined || error instanceof BusinessRejection) run.end = 'ok';
    else if (isStoreError && error.kind === 'again') run.end = 'again';
    else if (error instanceof Error && error.message.includes('shutdown')) run.end = 'stopped';
    else run.end = 'failed';
    run.canBeRecorded =
      run.end === 'failed' &&
      this.isStoreUp &&
      !isStoreError &&
      !MessagingError.is(error, 'MSG_STORE_TX_ENDED');
  }

  recorded(process: object, consumer: string, id: string): void {
    const run = this.runsOf(consumer, id).findLast((each) => each.process === process);
    if (run?.canBeRecorded === true) run.isRecorded = true;
  }
}
