import { type ProcessSpec, StopPoint, type SuiteProcess } from './process-spec.ts';
import { RunningBus, type RunningBusOptions } from './running-bus.ts';

const HOW = 'abandoned (its broker sessions and database connections are cut)';

/** Stands in for a process where there is none: killed means left behind at a step. */
export class AbandonedBus implements SuiteProcess {
  readonly name: string;
  readonly reached: Promise<void>;
  readonly died: Promise<void>;
  readonly #running: RunningBus;
  readonly #reached = Promise.withResolvers<void>();
  readonly #died = Promise.withResolvers<void>();
  readonly #forgotten = Promise.withResolvers<never>();

  constructor(options: Omit<RunningBusOptions, 'intercept'> & { readonly spec: ProcessSpec }) {
    const stopPoint = new StopPoint(options.spec);
    this.name = options.name;
    this.reached = this.#reached.promise;
    this.died = this.#died.promise;
    // It is awaited only where the bus was left at a step.
    this.#forgotten.promise.catch(() => undefined);
    this.#running = new RunningBus({
      ...options,
      intercept: async (step, info) => {
        const stop = stopPoint.at(step, info);
        if (stop === undefined) return;
        this.#reached.resolve();
        if (stop === 'die') this.#abandon();
        await this.#forgotten.promise;
      },
    });
  }

  async start(): Promise<this> {
    await this.#running.start();
    return this;
  }

  async kill(): Promise<void> {
    this.#abandon();
  }

  async stop(): Promise<void> {
    await this.#running.close();
  }

  /** After the case: lets go what was left behind, so that nothing of it lives on. */
  async forget(): Promise<void> {
    this.#abandon();
    this.#running.gate.open();
    this.#forgotten.reject(new Error('The process of this bus is gone.'));
    await this.#running.close(1);
  }

  #abandon(): void {
    this.#running.abandon(HOW);
    this.#died.resolve();
  }
}
