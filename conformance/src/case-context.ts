import {
  type Draft,
  type DraftOptions,
  envelopeCodec,
  MessagingError,
  type PublishResult,
} from '@ackord/core';
import type { BusSpec } from './bus-spec.ts';
import { Cast } from './cast.ts';
import type { Limits } from './checker/check.ts';
import { type Contracts, contractsOf, type OrderData } from './contracts.ts';
import { type CaseDatabase, transaction } from './database/case-database.ts';
import { Queries } from './database/queries.ts';
import { eventually } from './eventually.ts';
import { History } from './history/history.ts';
import type { ProcessSpec, SuiteProcess } from './process/process-spec.ts';
import type { RunningBus } from './process/running-bus.ts';
import type { CaseBroker, Profile } from './profile.ts';
import type { Place, RawMessage } from './raw-broker.ts';

export interface ContextParts {
  readonly profile: Profile;
  readonly namespace: string;
  readonly broker: CaseBroker;
  readonly database: CaseDatabase;
  readonly signal: AbortSignal;
}

/** What a case has in its hands. Everything it starts is closed after it. */
export class CaseContext {
  readonly profile: Profile;
  /** Unique; begins every name of the case. */
  readonly namespace: string;
  readonly contracts: Contracts;
  readonly history: History = new History();
  /** The database, read beside everything under test. */
  readonly sql: Queries;
  readonly database: CaseDatabase;
  readonly broker: CaseBroker;
  /** The broker's own client. */
  readonly raw: CaseBroker['raw'];
  /** Bounds of the checker that a case may set. */
  readonly limits: Limits = {
    deliveriesPerSecond: 20,
    connectsPerSecond: 20,
    extraRuns: 0,
    skip: {},
  };
  /** Figures for the guarantee table, by name with unit. */
  readonly figures: Record<string, number> = {};
  readonly cast: Cast;
  readonly #signal: AbortSignal;
  #publisher: Promise<RunningBus> | undefined;

  constructor(parts: ContextParts) {
    const { profile, namespace, broker, database, signal } = parts;
    this.profile = profile;
    this.namespace = namespace;
    this.broker = broker;
    this.raw = broker.raw;
    this.database = database;
    this.sql = new Queries(database);
    this.contracts = contractsOf(namespace);
    this.#signal = signal;
    this.cast = new Cast({ ...parts, history: this.history });
  }

  get delaysMs(): readonly [number, number, number] {
    return this.profile.delaysMs;
  }

  /** Full name of a consumer or destination. */
  name(short = 'reserve'): string {
    return `${this.namespace}.${short}`;
  }

  /** A bus in this process. Default: the standard consumer `reserve`, no relay. */
  startBus(spec: BusSpec = {}, more: Parameters<Cast['bus']>[1] = {}): Promise<RunningBus> {
    return this.cast.bus(spec, more);
  }

  /** A bus that may be killed: a real process, or an abandoned bus where the profile has none. */
  startProcess(spec: ProcessSpec): Promise<SuiteProcess> {
    return this.cast.process(spec);
  }

  /** An order; by default the handler accepts it at the first run. */
  order(data: Partial<OrderData> = {}, options?: DraftOptions): Draft {
    const full = { sku: 'book', count: 1, script: ['ok'] as const, ...data };
    return this.contracts.OrderCreated(full, options);
  }

  /** Publishes and resolves to the id once confirmed; throws otherwise. The consumer must exist. */
  async publish(data: Partial<OrderData> = {}, options?: DraftOptions): Promise<string> {
    this.#publisher ??= this.startBus({ consumers: [] }, { name: 'publisher', store: false });
    const draft = this.order(data, options);
    const error = await this.publishFrom(await this.#publisher, draft);
    if (error !== undefined) throw error;
    return draft.id;
  }

  /** Publishes over a bus of the case; resolves to the error instead of throwing it. */
  async publishFrom(
    running: RunningBus,
    draft: Draft,
    options?: Parameters<RunningBus['publish']>[1],
  ): Promise<MessagingError | undefined> {
    const { id } = draft;
    const who = running.name;
    const startMs = Date.now();
    this.history.add({ what: 'sent', who, id, body: this.bodyOf(draft) });
    const done = { what: 'outcome', who, id } as const;
    try {
      await running.publish(draft, options);
      this.history.add({ ...done, outcome: 'confirmed', tookMs: Date.now() - startMs });
      return undefined;
    } catch (error) {
      if (!MessagingError.is(error)) throw error;
      const { code } = error;
      const outcome = code === 'MSG_PUBLISH_UNCONFIRMED' ? 'unknown' : 'rejected';
      this.history.add({ ...done, outcome, code, tookMs: Date.now() - startMs });
      return error;
    }
  }

  /** Publishes over a bus of the case in one call; resolves to the outcomes in order. */
  async publishMany(
    running: RunningBus,
    drafts: readonly Draft[],
  ): Promise<readonly PublishResult[]> {
    const who = running.name;
    const startMs = Date.now();
    for (const draft of drafts) {
      this.history.add({ what: 'sent', who, id: draft.id, body: this.bodyOf(draft) });
    }
    const results = await running.bus.publishMany(drafts);
    const tookMs = Date.now() - startMs;
    for (const result of results) {
      const { id, outcome } = result;
      const code = outcome === 'confirmed' ? {} : { code: result.error.code };
      this.history.add({ what: 'outcome', who, id, outcome, tookMs, ...code });
    }
    return results;
  }

  /** Foreign bytes, by default to `orders` as an `order.created`. Counted as confirmed under its id. */
  async publishRaw(
    message: Partial<RawMessage> & { readonly body: Uint8Array },
    to: Place = { at: 'destination' },
  ): Promise<void> {
    await this.raw.publish(to, { type: 'order.created', ...message });
    const { id, body } = message;
    if (id === undefined) return;
    this.history.add({ what: 'sent', who: 'raw', id, body });
    this.history.add({ what: 'outcome', who: 'raw', id, outcome: 'confirmed', tookMs: 0 });
  }

  /** An `orders` row and outbox rows in one transaction. `rollback`: the transaction fails at its end. */
  async writeOutbox(
    running: RunningBus,
    drafts: readonly Draft[],
    options: { readonly rollback?: boolean } = {},
  ): Promise<void> {
    const { pool, end } = this.database.process();
    try {
      await transaction(pool, async (tx) => {
        const table = `"${this.database.schema}".orders`;
        for (const { id } of drafts) await tx.query(`insert into ${table} (id) values ($1)`, [id]);
        await running.bus.outbox(tx).add(...drafts);
        if (options.rollback) throw new RolledBack();
      });
    } catch (error) {
      if (error instanceof RolledBack) return;
      throw error;
    } finally {
      await end();
    }
    for (const draft of drafts) {
      this.history.add({
        what: 'outboxed',
        who: running.name,
        id: draft.id,
        body: this.bodyOf(draft),
      });
    }
  }

  /** Asks until the answer is truthy; throws past the deadline (10 s) with the last answer. */
  eventually<T>(what: string, ask: () => T | Promise<T>, deadlineMs?: number): Promise<T> {
    const options = { signal: this.#signal, ...(deadlineMs !== undefined && { deadlineMs }) };
    return eventually(what, ask, options);
  }

  /** Waits until the Inbox has these ids, each at one consumer or more. */
  async settled(...ids: readonly string[]): Promise<void> {
    await this.eventually(`the Inbox has ${ids.join(', ')}`, async () => {
      const found = new Set((await this.sql.inbox()).map(({ messageId }) => messageId));
      return ids.every((id) => found.has(id));
    });
  }

  /** Waits until the message lies in the parking place and resolves to it. */
  async parked(
    id: string,
    consumer: string = this.name(),
    deadlineMs?: number,
  ): Promise<RawMessage> {
    return (await this.eventually(
      `${id} is parked`,
      async () => {
        const lot = await this.raw.dump({ at: 'parking', consumer });
        return lot.find((message) => message.id === id);
      },
      deadlineMs,
    )) as RawMessage;
  }

  /** Closes every bus and process, then reads what the broker kept, parking places left out. */
  async remaining(): Promise<readonly RawMessage[]> {
    await this.cast.close();
    return await this.cast.remaining();
  }

  /** The bytes that a draft must have on the wire, by the public format. */
  bodyOf(draft: Draft, producer = 'suite'): Uint8Array {
    const { contract, aggregate, id, occurredAt, expiresAt, correlationId, causationId, data } =
      draft;
    const version = aggregate?.version;
    return envelopeCodec.encode({
      id,
      type: contract.type,
      schemaVersion: contract.version,
      occurredAt,
      producer,
      correlationId: correlationId ?? id,
      ...(causationId !== undefined && { causationId }),
      ...(aggregate && {
        aggregate: {
          type: aggregate.type,
          id: aggregate.id,
          ...(typeof version === 'number' && { version }),
        },
      }),
      ...(expiresAt !== undefined && { expiresAt }),
      data,
    });
  }
}

class RolledBack extends Error {}
