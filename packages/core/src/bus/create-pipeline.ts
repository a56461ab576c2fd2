import type { ConsumerSettings } from '../consume/consumer-options.ts';
import type { Handler } from '../consume/handler.ts';
import { InboxRunner } from '../consume/inbox-runner.ts';
import type { JudgeOptions } from '../consume/judge-failure.ts';
import { Pipeline, type Runner } from '../consume/pipeline.ts';
import { PlainRunner } from '../consume/plain-runner.ts';
import type { ContractRegistry } from '../contract/registry.ts';
import type { Capabilities, Delay } from '../driver/capabilities.ts';
import type { Driver } from '../driver/driver.ts';
import type { FailureClass } from '../failure/failure-class.ts';
import type { EventOutlet } from '../observe/events.ts';
import type { Interceptor } from '../observe/steps.ts';
import type { OutboxWriter } from '../outbox/outbox-writer.ts';
import { holdDelay } from '../retry/hold-delay.ts';
import type { Store, StoreFailure } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';

export interface CreatePipelineOptions<Tx> {
  readonly settings: ConsumerSettings;
  readonly registry: ContractRegistry<Handler<Tx>>;
  readonly driver: Driver;
  readonly capabilities: Capabilities;
  /** Undefined: the consumer runs without an Inbox. */
  readonly store: Store<Tx> | undefined;
  readonly writer: OutboxWriter<Tx> | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly events: EventOutlet;
  readonly intercept: Interceptor | undefined;
  readonly outboxFilled: () => void;
}

/** The pipeline of one consumer for the capabilities of one session. */
export function createPipeline<Tx>(options: CreatePipelineOptions<Tx>): Pipeline<Tx> {
  const { settings, registry, clock, events, intercept } = options;
  return new Pipeline({ settings, registry, clock, events, intercept, runner: runnerOf(options) });
}

function runnerOf<Tx>(options: CreatePipelineOptions<Tx>): Runner<Tx> {
  const { settings, store, writer, clock, events, intercept, capabilities } = options;
  const judge = judgeOptions(options);
  const countsByBroker =
    capabilities.nativeCount !== 'none' &&
    capabilities.delays.every(({ by }) => by === 'return' || by === 'return-linear');
  const common = { settings, judge, clock, events, intercept, countsByBroker };
  if (store === undefined || writer === undefined) return new PlainRunner(common);
  return new InboxRunner({ ...common, store, writer, outboxFilled: options.outboxFilled });
}

function judgeOptions<Tx>(options: CreatePipelineOptions<Tx>): JudgeOptions {
  const { settings, store, capabilities, random } = options;
  return {
    settings,
    // Where a delay is a place, chance could only jump to the next longer place.
    random: capabilities.delays.every(isPlace) ? () => 0 : random,
    library: store === undefined ? [] : [(error) => CLASS_OF[store.classify(error) ?? 'unknown']],
    hold: (wantMs) =>
      holdDelay(capabilities.delays, settings.retry.delaysMs, wantMs)?.delayMs ?? wantMs,
  };
}

function isPlace({ by }: Delay): boolean {
  return by === 'bucket' || by === 'held-log';
}

const CLASS_OF: Readonly<Record<StoreFailure, FailureClass | undefined>> = {
  down: 'transient',
  again: 'transient',
  transient: 'transient',
  permanent: 'permanent',
  unknown: undefined,
};
