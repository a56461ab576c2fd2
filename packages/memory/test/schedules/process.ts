import {
  type Bus,
  BusinessRejection,
  createBus,
  type Handler,
  type HandlerContext,
  type Message,
  on,
  permanent,
  type StepName,
  transient,
} from '@ackord/core';
import type { Driver } from '@ackord/core/driver';
import { type ManualClock, seededRandom } from '@ackord/core/testing';
import type { MemoryDriver, MemoryStore, MemoryTx } from '../../src/index.ts';
import {
  type ConsumerName,
  HANDLER_TIMEOUT_MS,
  handledId,
  type Kind,
  OrderCreated,
  OrderHandled,
  PUBLISH_TIMEOUT_MS,
  RETRY,
} from './messages.ts';
import { ProcessClock } from './process-clock.ts';
import type { Recorder } from './recorder.ts';

export interface ProcessOptions {
  readonly clock: ManualClock;
  readonly driver: MemoryDriver;
  /** The driver as core gets it. */
  readonly seen: Driver;
  readonly store: MemoryStore;
  readonly recorder: Recorder;
  readonly seed: number;
  /** True: the process dies in this step. */
  readonly dies: (step: StepName) => boolean;
}

const never = new Promise<never>(() => undefined);
const LONG_MS = 8_000;

/** One instance of the service: a bus with its handlers, its own clock, its own way to die. */
export class Process {
  readonly bus: Bus<MemoryTx>;
  readonly store: MemoryStore;
  state: 'starting' | 'running' | 'closing' | 'gone' = 'starting';
  isKilled = false;
  closing: Promise<void> | undefined;
  isClosed = false;
  readonly #options: ProcessOptions;
  readonly #clock: ProcessClock;
  readonly #onKill: (() => void)[] = [];

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.#clock = new ProcessClock(options.clock);
    this.store = options.store;
    this.bus = createBus<MemoryTx>({
      producer: 'orders',
      broker: options.seen,
      store: options.store,
      clock: this.#clock,
      random: seededRandom(options.seed),
      destinations: ['orders', 'results'],
      connect: { backoffCap: '2s' },
      publish: { timeout: PUBLISH_TIMEOUT_MS, maxInFlight: 20 },
      relay: { lease: '5s', maxHeld: 20 },
      intercept: (step, info) => this.#step(step, info.consumer, info.messageId),
    });
    const common = { retry: RETRY, concurrency: 3, handlerTimeout: HANDLER_TIMEOUT_MS } as const;
    this.bus.consume('reserve', common, [this.#handler()]);
    this.bus.consume('totals', { ...common, order: 'latest' }, [this.#handler()]);
    this.bus.consume('results', common, [
      on(OrderHandled, async (message, context: HandlerContext<MemoryTx>) => {
        await this.#effect(message, context);
      }),
    ]);
  }

  async start(): Promise<void> {
    try {
      await this.bus.start();
      if (this.state === 'starting') this.state = 'running';
    } catch {
      // Started into an outage: whoever runs processes starts another one.
      this.state = 'gone';
    }
  }

  close(timeoutMs: number): void {
    if (this.state === 'gone' || this.closing !== undefined) return;
    this.state = 'closing';
    this.closing = this.bus.close({ timeout: timeoutMs }).then(() => {
      this.state = 'gone';
      this.isClosed = true;
    });
  }

  kill(): void {
    if (this.state === 'gone') return;
    this.state = 'gone';
    this.isKilled = true;
    this.#clock.kill();
    this.#options.driver.kill();
    this.store.kill();
    for (const run of this.#onKill.splice(0)) run();
  }

  onKill(run: () => void): void {
    if (this.isKilled) run();
    else this.#onKill.push(run);
  }

  #step(step: StepName, consumer: string | undefined, id: string): Promise<never> | undefined {
    if (this.isKilled) return never;
    if (step === 'attempt.recorded' && consumer !== undefined) {
      this.#options.recorder.recorded(this, consumer, id);
    }
    if (!this.#options.dies(step)) return undefined;
    this.kill();
    return never;
  }

  #handler(): Handler<MemoryTx> {
    return on(OrderCreated, async (message, context: HandlerContext<MemoryTx>) => {
      const { recorder } = this.#options;
      const run = recorder.started(this, message, context);
      try {
        await this.#handle(message, context);
        recorder.ended(run, undefined);
      } catch (error) {
        recorder.ended(run, error);
        throw error;
      }
    });
  }

  async #handle(
    message: Message<{ kind: Kind; fails: number }>,
    context: HandlerContext<MemoryTx>,
  ): Promise<void> {
    const { kind, fails } = message.data;
    const { tx, outbox, consumer, attempt } = context;
    const answer = OrderHandled({ of: message.id }, { id: handledId(consumer, message.id) });
    // The effect comes before the failure: a roll-back must undo it.
    if (kind !== 'slow' && kind !== 'hang') await this.#effect(message, context);
    if (kind === 'permanent') throw permanent('never');
    if (kind === 'reject') throw new BusinessRejection(answer);
    if (kind === 'publish') await outbox.add(answer);
    if (kind === 'slow') await this.#pause(700);
    if (kind === 'hang' && attempt <= fails) await this.#pause(LONG_MS);
    if (kind === 'pair') {
      const shared = ['a', 'b'];
      if (fails % 2 === 1) shared.reverse();
      for (const key of shared) {
        await tx.effect<number>(`shared ${key}`, (before = 0) => before + 1);
        await this.#pause(30);
      }
    }
    if (kind === 'transient' && attempt <= fails) throw transient('not yet');
    if (kind === 'unknown' && attempt <= fails) throw new Error('a defect');
    if (kind === 'slow' || kind === 'hang') await this.#effect(message, context);
  }

  async #effect(
    message: Message,
    { tx, consumer, signal }: HandlerContext<MemoryTx>,
  ): Promise<void> {
    const { recorder } = this.#options;
    const { id, aggregate } = message;
    await tx.effect<number>(`effect ${consumer} ${id}`, (before = 0) => before + 1);
    if (signal.aborted)
      recorder.violated(`the transaction of ${consumer} ${id} outlived its handler`);
    const version = aggregate?.version;
    if (consumer !== ('totals' satisfies ConsumerName) || version === undefined) return;
    await tx.effect<readonly number[]>(`versions ${aggregate?.id}`, (before = []) => [
      ...before,
      version,
    ]);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }
}

/** What a killed process had begun never ends. */
export function untilKilled(process: Process, work: Promise<void>): Promise<void> {
  return Promise.race([work, new Promise<void>((resolve) => process.onKill(resolve))]);
}
