import type { Bus, Draft, Interceptor, StepInfo, StepName } from '@ackord/core';
import type { SqlTx } from '@ackord/core/store';
import { type BusSpec, buildBus } from '../bus-spec.ts';
import type { DatabaseProcess } from '../database/case-database.ts';
import { Gate } from '../gate.ts';
import { seen } from '../history/entry.ts';
import type { History } from '../history/history.ts';
import type { ProcessDriver } from '../profile.ts';

export interface RunningBusOptions {
  readonly name: string;
  readonly spec: BusSpec;
  readonly driver: ProcessDriver;
  readonly database: DatabaseProcess | undefined;
  readonly namespace: string;
  readonly schema: string;
  readonly delaysMs: readonly number[];
  readonly history: History;
  /** Awaited at each step, after it was recorded. */
  readonly intercept?: Interceptor;
}

/** A bus in the suite's own process, with everything it does in the history. */
export class RunningBus {
  readonly name: string;
  readonly bus: Bus<SqlTx>;
  /** Lets handlers of acts `wait` and `hang` go. */
  readonly gate: Gate = new Gate();
  readonly #options: RunningBusOptions;
  #muted = false;
  #closing: Promise<void> | undefined;

  constructor(options: RunningBusOptions) {
    this.#options = options;
    this.name = options.name;
    const { namespace, schema, delaysMs, database, history, name: who } = options;
    this.bus = buildBus(options.spec, {
      driver: options.driver.driver,
      pool: database?.pool,
      namespace,
      schema,
      delaysMs,
      gate: this.gate,
      record: (entry) => {
        if (!this.#muted) history.add({ ...entry, who });
      },
      intercept: (step, info) => this.#intercept(step, info),
    });
    this.bus.on((event) => {
      if (!this.#muted) history.add({ what: 'event', event: seen(event), who });
    });
  }

  async start(): Promise<this> {
    await this.bus.start();
    this.#options.history.add({ what: 'started', who: this.name });
    return this;
  }

  /** Draws a line under it: nothing it does from now on is part of the history or reaches anything. */
  abandon(how: string): void {
    if (this.#muted) return;
    this.#muted = true;
    this.#options.driver.kill();
    this.#options.database?.kill();
    this.#options.history.add({ what: 'died', who: this.name, how });
  }

  /** Idempotent. */
  close(timeout = 5_000): Promise<void> {
    this.#closing ??= this.#close(timeout);
    return this.#closing;
  }

  /** Parked messages as the library shows them. */
  parked(consumer: string): ReturnType<Bus<SqlTx>['parked']> {
    return this.bus.parked(consumer);
  }

  publish(draft: Draft, options?: Parameters<Bus<SqlTx>['publish']>[1]): Promise<void> {
    return this.bus.publish(draft, options);
  }

  async #close(timeout: number): Promise<void> {
    await this.bus.close({ timeout });
    if (!this.#muted) this.#options.history.add({ what: 'stopped', who: this.name });
    await this.#options.database?.end();
  }

  async #intercept(step: StepName, info: StepInfo): Promise<void> {
    if (this.#muted) return;
    const { messageId: id, consumer = '', attempt = 0 } = info;
    this.#options.history.add({ what: 'step', step, id, consumer, attempt, who: this.name });
    await this.#options.intercept?.(step, info);
  }
}
