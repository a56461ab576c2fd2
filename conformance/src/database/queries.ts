import type { CaseDatabase } from './case-database.ts';

export interface Effect {
  readonly seq: number;
  readonly consumer: string;
  readonly messageId: string;
  readonly attempt: number;
  readonly sku: string;
  readonly count: number;
  readonly aggregateId: string | null;
  readonly aggregateVersion: number | null;
}

export interface InboxRow {
  readonly consumer: string;
  readonly messageId: string;
  readonly outcome: 'applied' | 'stale' | 'expired' | 'rejected';
}

export interface AttemptRow {
  readonly consumer: string;
  readonly messageId: string;
  readonly attempts: number;
  readonly unknowns: number;
  readonly totalAttempts: number;
}

/** What cases ask the database, in SQL. Without an id: of every message. */
export class Queries {
  readonly #database: CaseDatabase;

  constructor(database: CaseDatabase) {
    this.#database = database;
  }

  sql<R = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<R[]> {
    return this.#database.sql<R>(text, values);
  }

  effects(id?: string): Promise<Effect[]> {
    return this.sql<Effect>(
      `select seq::int, consumer, message_id "messageId", attempt, sku, count, aggregate_id "aggregateId",
         aggregate_version::int "aggregateVersion"
       from {schema}.effects where $1::text is null or message_id = $1 order by seq`,
      [id ?? null],
    );
  }

  inbox(id?: string): Promise<InboxRow[]> {
    return this.sql<InboxRow>(
      `select consumer_name consumer, message_id "messageId", outcome
       from {schema}.processed_messages where $1::text is null or message_id = $1`,
      [id ?? null],
    );
  }

  attempts(id?: string): Promise<AttemptRow[]> {
    return this.sql<AttemptRow>(
      `select consumer_name consumer, message_id "messageId", attempts, unknowns,
         total_attempts "totalAttempts"
       from {schema}.message_attempts where $1::text is null or message_id = $1`,
      [id ?? null],
    );
  }

  /** Rows that are still there, in order of their writing. */
  outbox(): Promise<{ readonly messageId: string; readonly state: 'ready' | 'refused' }[]> {
    return this.sql(`select message_id "messageId", state from {schema}.outbox order by seq`);
  }

  /** Reserved pieces of an article; 0 when none was ever reserved. */
  async reserved(sku: string): Promise<number> {
    const [row] = await this.sql<{ reserved: number }>(
      'select reserved from {schema}.stock where sku = $1',
      [sku],
    );
    return row?.reserved ?? 0;
  }

  async stock(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.sql<{ sku: string; reserved: number }>(
      'select sku, reserved from {schema}.stock',
    );
    return new Map(rows.map(({ sku, reserved }) => [sku, reserved]));
  }
}
