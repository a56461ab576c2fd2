import { Consumer } from '../consume/consumer.ts';
import type { ConsumerSettings } from '../consume/consumer-options.ts';
import type { Handler } from '../consume/handler.ts';
import type { ContractRegistry } from '../contract/registry.ts';
import type { TopologyBook } from '../driver/topology-book.ts';
import type { Session } from '../lifecycle/connection.ts';
import type { EventOutlet } from '../observe/events.ts';
import type { OutboxWriter } from '../outbox/outbox-writer.ts';
import { Relay } from '../outbox/relay.ts';
import type { Sender } from '../publish/sender.ts';
import type { Store } from '../store/store.ts';
import type { BusSettings } from './bus-options.ts';
import { createPipeline } from './create-pipeline.ts';
import { Retention } from './retention.ts';

/** A consumer as it was declared. */
export interface Declared<Tx> {
  readonly settings: ConsumerSettings;
  readonly registry: ContractRegistry<Handler<Tx>>;
}

export interface AssembleOptions<Tx> {
  readonly settings: BusSettings<Tx>;
  readonly declared: readonly Declared<Tx>[];
  readonly book: TopologyBook;
  readonly sender: Sender;
  readonly events: EventOutlet;
  readonly writer: OutboxWriter<Tx> | undefined;
  readonly ready: (destination: string) => Promise<void> | undefined;
  readonly reapply: (session: Session) => Promise<void>;
}

/** The running parts of a bus. */
export interface Parts<Tx> {
  readonly consumers: Consumer[];
  readonly relay: Relay<Tx> | undefined;
  readonly retention: Retention | undefined;
}

export function assemble<Tx>(options: AssembleOptions<Tx>): Parts<Tx> {
  const relay = relayOf(options);
  const outboxFilled = (): void => relay?.wake();
  return {
    relay,
    retention: retentionOf(options),
    consumers: options.declared.map((declared) => consumerOf(options, declared, outboxFilled)),
  };
}

/** True when nothing of this consumer goes through the store. */
export function runsWithoutInbox<Tx>(
  store: Store<Tx> | undefined,
  { withoutInbox }: ConsumerSettings,
): boolean {
  return store === undefined || withoutInbox !== undefined;
}

function consumerOf<Tx>(
  { settings: bus, book, sender, events, writer, reapply }: AssembleOptions<Tx>,
  { settings, registry }: Declared<Tx>,
  outboxFilled: () => void,
): Consumer {
  const { clock, random, intercept, backoff, driver } = bus;
  const store = runsWithoutInbox(bus.store, settings) ? undefined : bus.store;
  const common = { settings, clock, random, intercept, events };
  return new Consumer({
    ...common,
    broker: driver.broker,
    plan: book,
    sender,
    backoff,
    copyTimeoutMs: bus.publishTimeoutMs,
    reapply,
    destinationOf: (type) => registry.destinationOf(type),
    pipeline: ({ capabilities }) =>
      createPipeline({ ...common, registry, driver, store, writer, capabilities, outboxFilled }),
  });
}

function relayOf<Tx>({
  settings,
  sender,
  events,
  ready,
}: AssembleOptions<Tx>): Relay<Tx> | undefined {
  const { store, relay, driver, clock, random, intercept, backoff, producer } = settings;
  if (store === undefined || relay === undefined) return undefined;
  return new Relay({
    owner: `${producer}:${process.pid}:${Math.floor(random() * 2 ** 32)}`,
    broker: driver.broker,
    store: store.outbox,
    sender,
    clock,
    random,
    intercept,
    backoff,
    events,
    leaseTtlMs: relay.leaseMs,
    maxHeld: relay.maxHeld,
    publishTimeoutMs: settings.publishTimeoutMs,
    ready,
  });
}

function retentionOf<Tx>({
  settings,
  declared,
  events,
}: AssembleOptions<Tx>): Retention | undefined {
  const { store, clock } = settings;
  if (store === undefined) return undefined;
  const consumers = declared.map((each) => each.settings);
  return new Retention({ inbox: store.inbox, consumers, clock, events });
}
