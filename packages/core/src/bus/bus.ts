import type { Consumer, Leftovers } from '../consume/consumer.ts';
import { type ConsumerOptions, consumerSettings } from '../consume/consumer-options.ts';
import type { Handler } from '../consume/handler.ts';
import type { Draft } from '../contract/contract.ts';
import { ContractRegistry } from '../contract/registry.ts';
import type { Topology } from '../driver/topology.ts';
import { TopologyBook } from '../driver/topology-book.ts';
import {
  configDuplicateConsumer,
  configInvalid,
  configNoStore,
  connectClosed,
} from '../errors/create.ts';
import { Connection, type Session } from '../lifecycle/connection.ts';
import { TaskGroup } from '../lifecycle/task-group.ts';
import { TopologyRepair } from '../lifecycle/topology-repair.ts';
import { type BusEvent, EventOutlet, type Listener } from '../observe/events.ts';
import { OutboxWriter } from '../outbox/outbox-writer.ts';
import type { Relay } from '../outbox/relay.ts';
import { type ParkedMessage, peekParked } from '../parking/peek-parked.ts';
import { Publisher, type PublishOptions, type PublishResult } from '../publish/publisher.ts';
import { Sender } from '../publish/sender.ts';
import { checkDedupeWindow, checkDelays } from '../retry/check-budget.ts';
import { type Duration, parseDuration } from '../time/duration.ts';
import { settledWithin } from '../time/wait.ts';
import { assemble, type Declared, runsWithoutInbox } from './assemble.ts';
import { type BusOptions, type BusSettings, busSettings } from './bus-options.ts';
import { type Health, healthOf } from './health.ts';
import { LateDestinations } from './late-destinations.ts';
import { openStore } from './open-store.ts';
import type { Retention } from './retention.ts';
import { topologyOf } from './topology-of.ts';

/** Adds messages to the outbox in a transaction of the caller's. */
export interface TransactionOutbox {
  /** Resolves once the rows are written; they are sent after the caller's COMMIT. */
  add(...drafts: readonly Draft[]): Promise<void>;
}

type State = 'new' | 'starting' | 'running' | 'closing' | 'closed';

/** One service's connection to its broker and store: publishers, consumers and the relay. */
export class Bus<Tx> implements AsyncDisposable {
  readonly #settings: BusSettings<Tx>;
  readonly #events = new EventOutlet();
  readonly #declared = new Map<string, Declared<Tx>>();
  readonly #sender: Sender;
  readonly #repair: TopologyRepair;
  readonly #tasks: TaskGroup;
  #state: State = 'new';
  #book: TopologyBook | undefined;
  #connection: Connection | undefined;
  #consumers: Consumer[] = [];
  #publisher: Publisher | undefined;
  #writer: OutboxWriter<Tx> | undefined;
  #relay: Relay<Tx> | undefined;
  #retention: Retention | undefined;
  /** Aborts at `close()`: a start that is under way ends. */
  readonly #stopping = new AbortController();
  #closing: Promise<void> | undefined;
  #lateDestinations: LateDestinations | undefined;

  constructor(options: BusOptions<Tx>) {
    this.#settings = busSettings(options);
    const { clock, maxInFlight } = this.#settings;
    this.#repair = new TopologyRepair({
      clock,
      session: () => this.#connection?.session,
      apply: (session) => this.#repaired(session),
      failed: (error) => this.#events.emit({ event: 'topology.unrepaired', error }),
    });
    this.#sender = new Sender({ clock, maxInFlight, routing: this.#repair });
    this.#tasks = new TaskGroup((error) =>
      this.#events.emit({ event: 'store.failed', during: 'a background task', error }),
    );
  }

  /** Every event of the bus; the answer removes the listener. */
  on(listener: (event: BusEvent) => void): () => void {
    return this.#events.on(listener satisfies Listener);
  }

  /**
   * Declares a durable named subscription. The handlers' contracts are its filter.
   * @throws MSG_CONFIG_INVALID, MSG_CONFIG_DUPLICATE_CONSUMER, MSG_CONFIG_NO_STORE,
   * MSG_CONFIG_DEDUPE_WINDOW
   */
  consume(name: string, options: ConsumerOptions, handlers: readonly Handler<Tx>[]): this {
    if (this.#state !== 'new') {
      throw configInvalid({
        option: `consume('${name}')`,
        value: this.#state,
        expected: 'a bus that was not started yet',
      });
    }
    const settings = consumerSettings(name, options);
    if (this.#declared.has(name)) throw configDuplicateConsumer({ consumer: name });
    if (!Array.isArray(handlers) || handlers.length === 0 || !handlers.every(isHandler)) {
      throw configInvalid({
        option: `consume('${name}').handlers`,
        value: handlers,
        expected: 'a list of at least one handler, each made by on(contract, run)',
      });
    }
    if (this.#settings.store !== undefined && settings.withoutInbox === undefined) {
      checkDedupeWindow(name, settings.retry, settings);
    }
    if (settings.order !== 'none' && runsWithoutInbox(this.#settings.store, settings)) {
      throw configNoStore({ what: `order: '${settings.order}' of consumer ${name}` });
    }
    this.#declared.set(name, { settings, registry: new ContractRegistry(handlers) });
    this.#book?.declare(this.#wanted());
    return this;
  }

  /**
   * Connects, verifies or creates topology, checks what the profile can hold, then reads and relays.
   * @throws MSG_CONNECT_*, MSG_CONFIG_DELAY_*, MSG_STORE_SCHEMA; the bus is closed then.
   */
  async start(): Promise<this> {
    if (this.#state !== 'new') {
      throw configInvalid({ option: 'start()', value: this.#state, expected: 'a new bus' });
    }
    this.#state = 'starting';
    try {
      await openStore(this.#settings, this.#events, this.#stopping.signal);
      this.#stopping.signal.throwIfAborted();
      await this.#connect();
      this.#stopping.signal.throwIfAborted();
      this.#relay?.start();
      this.#retention?.start();
      this.#state = 'running';
      return this;
    } catch (error) {
      await this.close({ timeout: 1_000 });
      throw error;
    }
  }

  /**
   * Publishes a draft and resolves once the broker has stored and routed it. Safe to repeat with
   * the same draft.
   * @throws MSG_PUBLISH_UNROUTABLE, MSG_PUBLISH_TOO_LARGE, MSG_PUBLISH_INVALID,
   * MSG_PUBLISH_REFUSED, MSG_PUBLISH_THROTTLED, MSG_PUBLISH_AUTH, MSG_PUBLISH_UNCONFIRMED,
   * MSG_PUBLISH_ABORTED, MSG_PUBLISH_CLOSED, MSG_CONTRACT_INVALID_DATA
   */
  async publish(draft: Draft, options: PublishOptions = {}): Promise<void> {
    await this.#publishing().publish(draft, options);
  }

  /** One outcome per draft, in their order. Never rejects for a message. */
  async publishMany(
    drafts: readonly Draft[],
    options: PublishOptions = {},
  ): Promise<readonly PublishResult[]> {
    return await this.#publishing().many(drafts, options);
  }

  /**
   * The outbox in a transaction of the caller's: rows commit or roll back with it.
   * @throws MSG_CONFIG_NO_STORE
   */
  outbox(tx: Tx): TransactionOutbox {
    const { store } = this.#settings;
    if (store === undefined) throw configNoStore({ what: 'bus.outbox' });
    return {
      add: async (...drafts) => {
        for (const draft of drafts) {
          await store.outbox.add(tx, await this.#outboxWriter().rows(tx, draft, undefined));
        }
        this.#relay?.wake();
      },
    };
  }

  /** A hint that outbox rows were committed; polling finds them without it. */
  wakeRelay(): void {
    this.#relay?.wake();
  }

  /** Reads a consumer's parking lot without taking from it. At most `limit` (default 100) messages. */
  async parked(
    consumer: string,
    options: { readonly limit?: number } = {},
  ): Promise<readonly ParkedMessage[]> {
    const session = this.#connection?.session;
    if (session === undefined || this.#book === undefined) {
      throw configInvalid({ option: 'parked()', value: this.#state, expected: 'a connected bus' });
    }
    const { clock } = this.#settings;
    const limit = options.limit ?? 100;
    return await peekParked({ session, plan: this.#book, consumer, limit, clock });
  }

  health(): Health {
    return healthOf({
      state: this.#state,
      connected: this.#connection?.session !== undefined,
      consumers: this.#consumers.map(({ name, reading }) => ({ name, reading })),
    });
  }

  /**
   * Stops intake, releases what was not started, lets handlers finish and settle, closes. Past
   * `timeout` (default 10 s) handlers are aborted and what they held goes back; an event tells what
   * was left. Idempotent; never rejects.
   */
  close(options: { readonly timeout?: Duration } = {}): Promise<void> {
    this.#closing ??= this.#close(parseDuration(options.timeout ?? '10s', 'close.timeout'));
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #connect(): Promise<void> {
    const { driver, mode, clock, random, backoff, startTimeoutMs } = this.#settings;
    const book = this.#topology();
    const parts = assemble<Tx>({
      settings: this.#settings,
      declared: [...this.#declared.values()],
      book,
      sender: this.#sender,
      events: this.#events,
      writer: this.#settings.store === undefined ? undefined : this.#outboxWriter(),
      ready: (destination) => this.#late(book).ready(destination),
      reapply: (session) => this.#connection?.applyTopology(session) ?? Promise.resolve(),
    });
    this.#consumers = parts.consumers;
    this.#relay = parts.relay;
    this.#retention = parts.retention;
    this.#connection = new Connection({
      driver,
      book,
      mode,
      clock,
      random,
      backoff,
      startTimeoutMs,
      events: this.#events,
      opened: (session) => this.#opened(session),
      lost: (error) => this.#lost(error),
    });
    await this.#connection.start();
  }

  async #opened(session: Session): Promise<void> {
    const { driver } = this.#settings;
    for (const { settings } of this.#declared.values()) {
      const { capabilities } = session;
      checkDelays(settings.name, settings.retry, { profile: driver.profile, capabilities });
    }
    await this.#lateDestinations?.all(session);
    this.#sender.attach(session);
    if (this.#state === 'closing' || this.#state === 'closed') return;
    await Promise.all(this.#consumers.map((consumer) => consumer.attach(session)));
  }

  #lost(error: unknown): void {
    this.#sender.detach(error);
    for (const consumer of this.#consumers) consumer.detach();
  }

  async #close(timeoutMs: number): Promise<void> {
    this.#state = 'closing';
    const { broker } = this.#settings.driver;
    this.#stopping.abort(connectClosed({ broker, reason: 'the bus is closing' }));
    const { clock } = this.#settings;
    const endMs = clock.now() + timeoutMs;
    const leftMs = (): number => Math.max(0, endMs - clock.now());
    const left = await Promise.all(this.#consumers.map((consumer) => consumer.stop(timeoutMs)));
    for (const [index, leftovers] of left.entries()) this.#report(index, leftovers);
    await this.#retention?.stop();
    await this.#relay?.stop(leftMs());
    if (this.#connection?.session !== undefined) {
      await settledWithin(clock, leftMs(), this.#sender.idle());
    }
    await settledWithin(clock, leftMs(), this.#repair.idle());
    await this.#connection?.close();
    this.#sender.close();
    await this.#tasks.idle();
    // What the store opened itself; a database that is gone cannot keep a bus from closing.
    await this.#settings.store?.close().catch(() => undefined);
    this.#state = 'closed';
  }

  async #repaired(session: Session): Promise<void> {
    await this.#connection?.applyTopology(session);
    await this.#lateDestinations?.again(session);
  }

  #report(index: number, { running, unsettled }: Leftovers): void {
    const consumer = this.#consumers[index];
    if (consumer === undefined || (running === 0 && unsettled === 0)) return;
    this.#events.emit({ event: 'shutdown.leftovers', consumer: consumer.name, running, unsettled });
  }

  #late(book: TopologyBook): LateDestinations {
    const { mode, driver } = this.#settings;
    this.#lateDestinations ??= new LateDestinations({
      book,
      mode,
      session: () => this.#connection?.session,
      failed: (destination, error) =>
        this.#events.emit({
          event: 'topology.failed',
          broker: driver.broker,
          destination,
          error,
        }),
    });
    return this.#lateDestinations;
  }

  #topology(): TopologyBook {
    this.#book ??= new TopologyBook(this.#settings.driver, this.#wanted());
    return this.#book;
  }

  #wanted(): Topology {
    return topologyOf([...this.#declared.values()], this.#settings.destinations);
  }

  #outboxWriter(): OutboxWriter<Tx> {
    const { store, producer, driver, clock } = this.#settings;
    if (store === undefined) throw configNoStore({ what: 'the outbox' });
    this.#writer ??= new OutboxWriter({
      store: store.outbox,
      producer,
      broker: driver.broker,
      plan: this.#topology(),
      clock,
    });
    return this.#writer;
  }

  #publishing(): Publisher {
    const { producer, driver, clock, publishTimeoutMs } = this.#settings;
    const book = this.#topology();
    this.#publisher ??= new Publisher({
      producer,
      broker: driver.broker,
      plan: book,
      sender: this.#sender,
      clock,
      events: this.#events,
      timeoutMs: publishTimeoutMs,
      ready: (destination) => this.#late(book).ready(destination),
    });
    return this.#publisher;
  }
}

function isHandler(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { contract, run } = value as Partial<Handler>;
  return typeof contract === 'function' && typeof run === 'function';
}

/** @throws MSG_CONFIG_INVALID for an unknown option or a value out of bounds. */
export function createBus<Tx>(options: BusOptions<Tx>): Bus<Tx> {
  return new Bus(options);
}
