import { type Draft, validateDraft } from '../contract/contract.ts';
import type { Plan } from '../driver/topology.ts';
import { configInvalid, publishUnroutable } from '../errors/create.ts';
import { compose, type Parent } from '../publish/compose.ts';
import type { OutboxMessage, OutboxStore } from '../store/outbox-store.ts';
import type { Clock } from '../time/clock.ts';

/** Adds messages to the outbox in a transaction of the caller's. */
export interface TransactionOutbox {
  /** Resolves once the rows are written; they are sent after the caller's COMMIT. */
  add(...drafts: readonly Draft[]): Promise<void>;
}

export interface OutboxWriterOptions<Tx> {
  readonly store: OutboxStore<Tx>;
  readonly producer: string;
  /** Name of the broker in the bus; the `broker` column. */
  readonly broker: string;
  readonly plan: Plan;
  readonly clock: Clock;
}

/** Turns drafts into outbox rows: validated, versioned, encoded once, one row per target. */
export class OutboxWriter<Tx> {
  readonly #options: OutboxWriterOptions<Tx>;

  constructor(options: OutboxWriterOptions<Tx>) {
    this.#options = options;
  }

  /** A promise only for an asynchronous schema or a version that is to be assigned. */
  rows(
    tx: Tx,
    draft: Draft,
    parent: Parent | undefined,
  ): readonly OutboxMessage[] | Promise<readonly OutboxMessage[]> {
    const invalid = validateDraft(draft);
    return invalid === undefined && draft.aggregate?.version !== 'next'
      ? this.#composed(draft, parent, undefined)
      : this.#later(tx, draft, parent, invalid);
  }

  async #later(
    tx: Tx,
    draft: Draft,
    parent: Parent | undefined,
    invalid: Promise<void> | void,
  ): Promise<readonly OutboxMessage[]> {
    if (invalid !== undefined) await invalid;
    const { aggregate, contract } = draft;
    const { destination } = contract;
    const version =
      aggregate?.version === 'next'
        ? await this.#options.store.nextVersion(tx, {
            destination,
            type: aggregate.type,
            id: aggregate.id,
          })
        : undefined;
    return this.#composed(draft, parent, version);
  }

  #composed(
    draft: Draft,
    parent: Parent | undefined,
    version: number | undefined,
  ): readonly OutboxMessage[] {
    const { producer, clock, plan, broker } = this.#options;
    const { destination } = draft.contract;
    const message = compose(draft, { producer, nowMs: clock.now(), parent, version });
    const addresses = plan.address({ at: 'destination', name: destination, type: message.type });
    if (addresses.length === 0) {
      throw publishUnroutable({ broker, destination, type: message.type, id: message.id });
    }
    const { mirror } = message;
    return addresses.map((target) => ({
      messageId: message.id,
      broker,
      target,
      destination,
      type: message.type,
      ...(message.key !== undefined && { key: message.key }),
      dedupId: message.dedupId,
      contentType: mirror.contentType,
      ...(mirror.correlationId !== undefined && { correlationId: mirror.correlationId }),
      ...(mirror.occurredAtMs !== undefined && { occurredAtMs: mirror.occurredAtMs }),
      headers: message.headers,
      body: message.body,
    }));
  }
}

/** @throws MSG_CONFIG_INVALID: only `outbox.add` can assign a version, in its transaction. */
export function refuseNextVersion(draft: Draft): void {
  if (draft.aggregate?.version !== 'next') return;
  throw configInvalid({
    option: `${draft.contract.type} aggregate.version`,
    value: 'next',
    expected: 'a number; only outbox.add assigns the next version, in its transaction',
  });
}
