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
  readonly #signal: AbortSignal;
  readonly #rows: OutboxMessage[] = [];
  #adding: Promise<void> | undefined;
  #failed: { readonly error: unknown } | undefined;
  #ended = false;

  /** @param signal - Aborts with the run: nothing is taken any more. */
  constructor(writer: OutboxWriter<Tx>, tx: Tx, parent: Parent, signal: AbortSignal) {
    this.#writer = writer;
    this.#tx = tx;
    this.#parent = parent;
    this.#signal = signal;
  }

  /** In the order of the calls, awaited or not. */
  add(...drafts: readonly Draft[]): Promise<void> {
    const before = this.#adding;
    const added = before === undefined ? this.#add(drafts) : before.then(() => this.#add(drafts));
    // Nobody may be waiting for the answer: it must end neither the process nor in silence.
    this.#adding = added.catch((error: unknown) => {
      this.#failed ??= { error };
    });
    return added;
  }

  /** What the handler did not wait for; never rejects. Undefined: nothing was added. */
  get adding(): Promise<void> | undefined {
    return this.#adding;
  }

  /**
   * What is to be committed; later adds are refused.
   * @throws what an add failed with: the effect must not be stored without its message.
   */
  end(): readonly OutboxMessage[] {
    this.#ended = true;
    if (this.#failed !== undefined) throw this.#failed.error;
    return this.#rows;
  }

  async #add(drafts: readonly Draft[]): Promise<void> {
    for (const draft of drafts) {
      this.#check();
      const rows = this.#writer.rows(this.#tx, draft, this.#parent);
      if (rows instanceof Promise) {
        const late = await rows;
        this.#check();
        this.#rows.push(...late);
      } else this.#rows.push(...rows);
    }
  }

  #check(): void {
    if (this.#ended || this.#signal.aborted) throw storeTxEnded({ what: 'outbox.add' });
  }
}
