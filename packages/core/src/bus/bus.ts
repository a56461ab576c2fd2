import type { Consumer, Leftovers } from '../consume/consumer.ts';
import { type ConsumerOptions, consumerSettings } from '../consume/consumer-options.ts';
import { type Handler, isHandler } from '../consume/handler.ts';
import type { Draft } from '../contract/contract.ts';
import { ContractRegistry } from '../contract/registry.ts';
import type { Topology } from '../driver/topology.ts';
import {
  configDuplicateConsumer,
  configInvalid,
  configNoStore,
  connectClosed,
} from '../errors/create.ts';
import { Connection, type Session } from '../lifecycle/connection.ts';
import { TopologyRepair } from '../lifecycle/topology-repair.ts';
import { type BusEvent, EventOutlet, type Listener } from '../observe/events.ts';
import type { TransactionOutbox } from '../outbox/outbox-writer.ts';
import type { Relay } from '../outbox/relay.ts';
import { type ParkedMessage, peekParked } from '../parking/peek-parked.ts';
import type { PublishOptions, PublishResult } from '../publish/publisher.ts';
import { Sender } from '../publish/sender.ts';
import { checkDedupeWindow, checkDelays } from '../retry/check-budget.ts';
import { type Duration, parseDuration } from '../time/duration.ts';
import { settledWithin } from '../time/wait.ts';
import { assemble, type Declared, runsWithoutInbox } from './assemble.ts';
import { type BusOptions, type BusSettings, busSettings } from './bus-options.ts';
import { type Health, healthOf } from './health.ts';
import { openStore } from './open-store.ts';
import { Outlets } from './outlets.ts';
import type { Retention } from './retention.ts';
import { topologyOf } from './topology-of.ts';

type State = 'new' | 'starting' | 'running' | 'closing' | 'closed';

/** One service's connection to its broker and store: publishers, consumers and the relay. */
export class Bus<Tx> implements AsyncDisposable {
  readonly #settings: BusSettings<Tx>;
  readonly #events = new EventOutlet();
  readonly #declared = new Map<string, Declared<Tx>>();
  readonly #sender: Sender;
  readonly #repair: TopologyRepair;
  readonly #outlets: Outlets<Tx>;
  #state: State = 'new';
  #connection: Connection | undefined;
  #consumers: Consumer[] = [];
  #relay: Relay<Tx> | undefined;
  #retention: Retention | undefined;
  /** Aborts at `close()`: a start that is under way ends. */
  readonly #stopping = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(options: BusOptions<Tx>) {
    this.#settings = busSettings(options);
    const { clock, maxInFlight } = this.#settings;
    this.#repair = new TopologyRepair({
      clock,
      session: () => this.#connection?.session,
      apply: (session) => this.#repaired(session),
      failed: (error) => this.#events.emit({ event: 'topology.unrepaired', error }),
    });
    this.#sender = new Sender({
      clock,
      maxInFlight,
      unroutable: () => this.#repair.unroutable(),
    });
    this.#outlets = new Outlets({
      settings: this.#settings,
      sender: this.#sender,
      events: this.#events,
      session: () => this.#connection?.session,
    });
  }

  /** Every event of the bus; the answer removes the listener. */
  on(listener: (event: BusEvent) => void): () => void {
    return this.#events.on(listener satisfies Listener);
  }

  /**
   * Declares a durable named subscription. The handlers' contracts are its filter.
   * @throws MSG_CONFIG_INVALID, MSG_CONFIG_DUPLICATE_CONSUMER, MSG_CONFIG_NO_STORE,
   * MSG_CONFIG_DEDUPE_WINDOW, MSG_CONFIG_DELAY_TOO_LONG
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
    const declared = { settings, registry: new ContractRegistry(handlers) };
    // First the plan, which refuses names and delays that the broker cannot hold.
    this.#outlets.declare(this.#wanted(declared));
    this.#declared.set(name, declared);
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
  publish(draft: Draft, options: PublishOptions = {}): Promise<void> {
    return this.#outlets.publisher.publish(draft, options);
  }

  /** One outcome per draft, in their order. Never rejects for a message. */
  async publishMany(
    drafts: readonly Draft[],
    options: PublishOptions = {},
  ): Promise<readonly PublishResult[]> {
    return await this.#outlets.publisher.many(drafts, options);
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
          await store.outbox.add(tx, await this.#outlets.writer.rows(tx, draft, undefined));
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
    if (session === undefined) {
      throw configInvalid({ option: 'parked()', value: this.#state, expected: 'a connected bus' });
    }
    const { clock } = this.#settings;
    const limit = options.limit ?? 100;
    return await peekParked({ session, plan: this.#outlets.book, consumer, limit, clock });
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
    const { book, late } = this.#outlets;
    const parts = assemble<Tx>({
      settings: this.#settings,
      declared: [...this.#declared.values()],
      book,
      sender: this.#sender,
      events: this.#events,
      writer: this.#settings.store === undefined ? undefined : this.#outlets.writer,
      ready: (destination) => late.ready(destination),
      reapply: (session) => this.#connection?.reapplyTopology(session) ?? Promise.resolve(),
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
    await this.#outlets.late.all(session);
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
    await this.#connection?.close(leftMs());
    this.#sender.close();
    // What the store opened itself; a database that is gone cannot keep a bus from closing.
    await this.#settings.store?.close().catch(() => undefined);
    this.#state = 'closed';
  }

  async #repaired(session: Session): Promise<void> {
    await this.#connection?.reapplyTopology(session);
    await this.#outlets.late.again(session);
  }

  #report(index: number, { running, unsettled }: Leftovers): void {
    const consumer = this.#consumers[index];
    if (consumer === undefined || (running === 0 && unsettled === 0)) return;
    this.#events.emit({ event: 'shutdown.leftovers', consumer: consumer.name, running, unsettled });
  }

  #wanted(declared: Declared<Tx>): Topology {
    return topologyOf([...this.#declared.values(), declared], this.#settings.destinations);
  }
}
