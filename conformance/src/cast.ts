import type { Interceptor, RetryOptions } from '@ackord/core';
import type { BusSpec, ConsumerSpec } from './bus-spec.ts';
import type { Consumer } from './checker/check.ts';
import type { CaseDatabase } from './database/case-database.ts';
import { eventually } from './eventually.ts';
import type { History } from './history/history.ts';
import { AbandonedBus } from './process/abandoned-bus.ts';
import { startChild } from './process/child-process.ts';
import type { ProcessSpec, SuiteProcess } from './process/process-spec.ts';
import { RunningBus } from './process/running-bus.ts';
import type { CaseBroker, Profile } from './profile.ts';
import type { Place, RawMessage } from './raw-broker.ts';

export interface CastOptions {
  readonly profile: Profile;
  readonly namespace: string;
  readonly broker: CaseBroker;
  readonly database: CaseDatabase;
  readonly history: History;
}

/** What a closed connection held comes back up to 100 ms later. */
const QUIET_MS = 300;

/** Buses and processes of one case, and which consumers they have. */
export class Cast {
  readonly #options: CastOptions;
  readonly #buses: RunningBus[] = [];
  readonly #processes: SuiteProcess[] = [];
  readonly #abandoned: AbandonedBus[] = [];
  /** By full name, from their first start on. */
  readonly consumers: Map<string, Consumer> = new Map();
  #names = 0;

  constructor(options: CastOptions) {
    this.#options = options;
  }

  async bus(
    spec: BusSpec,
    more: {
      readonly name?: string;
      /** False: without a store; for buses that only publish. */
      readonly store?: boolean;
      readonly intercept?: Interceptor;
      /** False: it is built, and the case starts it. */
      readonly start?: boolean;
      /** Default: the case's own process. */
      readonly as?: 'intruder';
    } = {},
  ): Promise<RunningBus> {
    const { store = true, start = true, intercept, as } = more;
    const name = more.name ?? this.#name('bus');
    const running = new RunningBus({
      ...this.#parts(name, spec, as),
      database: store ? this.#options.database.process() : undefined,
      ...(intercept && { intercept }),
    });
    this.#buses.push(running);
    if (start) await running.start();
    this.#know(spec);
    return running;
  }

  async process(spec: ProcessSpec): Promise<SuiteProcess> {
    const process = await this.#start(this.#name('process'), spec);
    this.#processes.push(process);
    this.#know(spec);
    return process;
  }

  /** Lets handlers go and closes everything. Repeated calls are harmless. */
  async close(): Promise<void> {
    for (const running of this.#buses) running.gate.open();
    await Promise.all([
      ...this.#buses.splice(0).map((running) => running.close()),
      ...this.#processes.splice(0).map((process) => process.stop()),
    ]);
    await Promise.all(this.#abandoned.splice(0).map((abandoned) => abandoned.forget()));
  }

  /** What the broker keeps for the consumers of the case, parking places left out. */
  async remaining(): Promise<readonly RawMessage[]> {
    const { raw } = this.#options.broker;
    const places = await this.places();
    let before = -1;
    let quietSinceMs = Date.now();
    await eventually('the broker has taken back what closed connections held', async () => {
      let count = 0;
      for (const place of places) count += await raw.ready(place);
      if (count !== before) quietSinceMs = Date.now();
      before = count;
      return Date.now() - quietSinceMs >= QUIET_MS;
    });
    return (await Promise.all(places.map((place) => raw.dump(place)))).flat();
  }

  /** Sources, retry places and buckets of every consumer. */
  async places(): Promise<readonly Place[]> {
    const { raw } = this.#options.broker;
    const all: Place[] = [];
    for (const consumer of this.consumers.keys()) {
      all.push({ at: 'source', consumer }, { at: 'retry', consumer });
      for (const delayMs of await raw.buckets(consumer))
        all.push({ at: 'bucket', delayMs, consumer });
    }
    return all;
  }

  async #start(name: string, spec: ProcessSpec): Promise<SuiteProcess> {
    const { broker, database, namespace, history, profile } = this.#options;
    if (profile.kill === 'process') {
      const { worker } = broker;
      const { url, schema } = database;
      if (!worker || !url) throw new Error(`${profile.name} has no worker or no database URL.`);
      const config = { name, namespace, schema, databaseUrl: url, driver: worker, spec };
      return await startChild({ ...config, delaysMs: profile.delaysMs }, history);
    }
    const parts = { ...this.#parts(name, spec), spec, database: database.process() };
    const abandoned = new AbandonedBus(parts);
    this.#abandoned.push(abandoned);
    return await abandoned.start();
  }

  #parts(name: string, spec: BusSpec, as?: 'intruder') {
    const { broker, database, namespace, history, profile } = this.#options;
    const { schema } = database;
    return {
      name,
      spec,
      driver: broker.driver(as),
      namespace,
      schema,
      delaysMs: profile.delaysMs,
      history,
    };
  }

  #know({ consumers = [{}] }: BusSpec): void {
    for (const spec of consumers) {
      const name = `${this.#options.namespace}.${spec.name ?? 'reserve'}`;
      if (!this.consumers.has(name)) this.consumers.set(name, this.#consumer(name, spec));
    }
  }

  #consumer(name: string, spec: ConsumerSpec): Consumer {
    const { reads = 'orders', options = {}, effects = true } = spec;
    const retry: Partial<RetryOptions> = options.retry ?? {};
    const delays = retry.delays ?? this.#options.profile.delaysMs;
    return {
      name,
      reads: `${this.#options.namespace}.${reads}`,
      sinceMs: Date.now(),
      maxAttempts: retry.maxAttempts ?? 4,
      delaysMs: delays.filter((delay) => typeof delay === 'number'),
      order: options.order ?? 'none',
      inbox: options.inbox === undefined,
      effects: effects && spec.handlers === undefined,
    };
  }

  #name(kind: string): string {
    this.#names += 1;
    return `${kind}-${this.#names}`;
  }
}
