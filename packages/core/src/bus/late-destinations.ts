import type { TopologyBook } from '../driver/topology-book.ts';
import type { Session, TopologyMode } from '../lifecycle/connection.ts';

/** Destinations that join after the start, at their first use: applied once before anything is sent there. */
export class LateDestinations {
  readonly #book: TopologyBook;
  readonly #mode: TopologyMode;
  readonly #session: () => Session | undefined;
  readonly #applying = new Map<string, Promise<void>>();

  constructor(book: TopologyBook, mode: TopologyMode, session: () => Session | undefined) {
    this.#book = book;
    this.#mode = mode;
    this.#session = session;
  }

  /** Undefined when there is nothing to wait for. Without a session the next one applies it. */
  ready(destination: string): Promise<void> | undefined {
    const added = this.#book.learn(destination);
    const session = this.#session();
    if (added.length === 0 || this.#mode !== 'create' || session === undefined) {
      return this.#applying.get(destination);
    }
    const applying = session
      .apply(added, 'create')
      .then(() => undefined)
      .finally(() => this.#applying.delete(destination));
    this.#applying.set(destination, applying);
    return applying;
  }
}
