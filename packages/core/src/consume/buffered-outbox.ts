import type { Draft } from '../contract/contract.ts';
import { storeTxEnded } from '../errors/create.ts';
import type { OutboxWriter } from '../outbox/outbox-writer.ts';
import type { Parent } from '../publish/compose.ts';
import type { OutboxMessage } from '../store/outbox-store.ts';
import type { HandlerOutbox } from './handler.ts';

/** Collects the handler's messages, so that their insert travels with COMMIT. */
export class BufferedOutbox<Tx> implements HandlerOutbox {
  readonly #writer: OutboxWriter<Tx>;
  readonly #tx: Tx;
  readonly #parent: Parent;
  #rows: OutboxMessage[] = [];
  #ended = false;

  constructor(writer: OutboxWriter<Tx>, tx: Tx, parent: Parent) {
    this.#writer = writer;
    this.#tx = tx;
    this.#parent = parent;
  }

  async add(...drafts: readonly Draft[]): Promise<void> {
    for (const draft of drafts) {
      const rows = await this.#writer.rows(this.#tx, draft, this.#parent);
      if (this.#ended) throw storeTxEnded({ what: 'outbox.add' });
      this.#rows.push(...rows);
    }
  }

  /** What is to be committed; later adds are refused. */
  end(): readonly OutboxMessage[] {
    this.#ended = true;
    return this.#rows;
  }
}
