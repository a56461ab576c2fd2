import type { TopologyBook } from '../driver/topology-book.ts';
import type { Session, TopologyMode } from '../lifecycle/connection.ts';

export interface LateDestinationsOptions {
  readonly book: TopologyBook;
  readonly mode: TopologyMode;
  readonly session: () => Session | undefined;
  /** It will be tried again at the next use. */
  readonly failed: (destination: string, error: unknown) => void;
}

/**
 * Destinations that join at their first use: declared once per session, before anything is sent
 * there. Who learned of one first, and whether a session was opening just then, does not matter.
 */
export class LateDestinations {
  readonly #options: LateDestinationsOptions;
  readonly #declared = new WeakMap<Session, Map<string, Promise<void> | true>>();

  constructor(options: LateDestinationsOptions) {
    this.#options = options;
  }

  /**
   * Undefined when there is nothing to wait for; without a session the next one declares it. Never
   * rejects: what could not be declared may exist all the same, and the send tells the truth.
   */
  ready(destination: string): Promise<void> | undefined {
    const { book, mode, session } = this.#options;
    book.learn(destination);
    const over = session();
    if (mode !== 'create' || over === undefined || !book.late.has(destination)) return undefined;
    return this.#declare(over, destination);
  }

  /** All that joined so far, on a new session, before anything is sent over it. */
  async all(session: Session): Promise<void> {
    const { book, mode } = this.#options;
    if (mode !== 'create') return;
    await Promise.all([...book.late.keys()].map(async (name) => this.#declare(session, name)));
  }

  /** All of them once more: somebody may have removed one. */
  async again(session: Session): Promise<void> {
    this.#declared.delete(session);
    await this.all(session);
  }

  #declare(session: Session, destination: string): Promise<void> | undefined {
    const { book, failed } = this.#options;
    let declared = this.#declared.get(session);
    if (declared === undefined) {
      declared = new Map();
      this.#declared.set(session, declared);
    }
    const known = declared.get(destination);
    if (known !== undefined) return known === true ? undefined : known;
    const of = declared;
    const applying = session.apply(book.late.get(destination) ?? [], 'create').then(
      () => {
        of.set(destination, true);
      },
      (error: unknown) => {
        of.delete(destination);
        failed(destination, error);
      },
    );
    declared.set(destination, applying);
    return applying;
  }
}
