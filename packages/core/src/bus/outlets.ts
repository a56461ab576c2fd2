import type { Topology } from '../driver/topology.ts';
import { TopologyBook } from '../driver/topology-book.ts';
import { configNoStore } from '../errors/create.ts';
import type { Session } from '../lifecycle/connection.ts';
import type { EventOutlet } from '../observe/events.ts';
import { OutboxWriter } from '../outbox/outbox-writer.ts';
import { Publisher } from '../publish/publisher.ts';
import type { Sender } from '../publish/sender.ts';
import type { BusSettings } from './bus-options.ts';
import { LateDestinations } from './late-destinations.ts';

export interface OutletsOptions<Tx> {
  readonly settings: BusSettings<Tx>;
  readonly sender: Sender;
  readonly events: EventOutlet;
  readonly session: () => Session | undefined;
}

/** The ways out of a bus, to the broker and to the outbox. They can be used before the start. */
export class Outlets<Tx> {
  readonly #options: OutletsOptions<Tx>;
  readonly book: TopologyBook;
  readonly late: LateDestinations;
  readonly publisher: Publisher;
  #writer: OutboxWriter<Tx> | undefined;

  constructor(options: OutletsOptions<Tx>) {
    const { settings, sender, events, session } = options;
    const { driver, mode, producer, clock, publishTimeoutMs, destinations } = settings;
    const { broker } = driver;
    this.#options = options;
    const named = destinations.map((name) => ({ name }));
    this.book = new TopologyBook(driver, { destinations: named, consumers: [] });
    this.late = new LateDestinations({
      book: this.book,
      mode,
      session,
      failed: (destination, error) =>
        events.emit({ event: 'topology.failed', broker, destination, error }),
    });
    this.publisher = new Publisher({
      producer,
      broker,
      plan: this.book,
      sender,
      clock,
      events,
      timeoutMs: publishTimeoutMs,
      ready: (destination) => this.late.ready(destination),
    });
  }

  /** @throws MSG_CONFIG_NO_STORE */
  get writer(): OutboxWriter<Tx> {
    const { store, producer, driver, clock } = this.#options.settings;
    if (store === undefined) throw configNoStore({ what: 'the outbox' });
    this.#writer ??= new OutboxWriter({
      store: store.outbox,
      producer,
      broker: driver.broker,
      plan: this.book,
      clock,
    });
    return this.#writer;
  }

  /** What the consumers need as well. */
  declare(topology: Topology): void {
    this.book.declare(topology);
  }
}
