import type { Aggregate } from '../envelope/envelope.ts';
import { checkEvent } from './check-event.ts';
import { createDraft } from './create-draft.ts';
import type { SchemaInput, SchemaOutput, StandardSchema } from './standard-schema.ts';
import { isPromise, validateData } from './validate-data.ts';

/** Turns data of one schema version into data of the next. */
export type UpcastStep = (old: unknown) => unknown;

export interface EventOptions<S extends StandardSchema> {
  /** Raised only for breaking changes. Integer >= 1. */
  readonly version: number;
  /** Broker-neutral topic that it is published to. */
  readonly destination: string;
  /** Schema of `data`: any Standard Schema. */
  readonly data: S;
  /** Step from version n to n + 1 under key n, without a hole up to `version`. */
  readonly upcast?: Readonly<Record<number, UpcastStep>>;
}

/**
 * One type of message in one schema version. Call it with data to make a draft. `In` is what a
 * publisher gives, `Out` what a handler sees, `Given` repeats `In` for the draft. Without type
 * arguments: any contract.
 */
export interface Contract<In = never, Out = unknown, Given = unknown> {
  /** Id and time are minted here, so that repeated publishes of a draft are the same message. */
  (data: In, options?: DraftOptions): Draft<Given>;
  readonly type: string;
  readonly version: number;
  readonly destination: string;
  readonly schema: StandardSchema<unknown, Out>;
  readonly upcast: Readonly<Record<number, UpcastStep>>;
}

export interface DraftAggregate extends Omit<Aggregate, 'version'> {
  /** `next`: assigned by the outbox. */
  readonly version?: number | 'next';
}

export interface DraftOptions {
  /** Default: a new UUIDv7. */
  readonly id?: string;
  readonly aggregate?: DraftAggregate;
  /** Default: now. Text is ISO 8601 with `Z` or an offset. */
  readonly occurredAt?: Date | string;
  /** Past it the message is settled without a run. */
  readonly expiresAt?: Date | string;
  /** Default: that of the message being handled, else the new id. */
  readonly correlationId?: string;
  /** Default: the id of the message being handled. */
  readonly causationId?: string;
}

/** A message that is not yet published. */
export interface Draft<D = unknown> {
  readonly contract: Contract;
  readonly id: string;
  readonly occurredAt: string;
  readonly aggregate?: DraftAggregate;
  readonly expiresAt?: string;
  readonly correlationId?: string;
  readonly causationId?: string;
  readonly data: D;
}

/**
 * Declares a type of message.
 *
 * @throws MSG_CONFIG_INVALID a name, version, schema or upcast step is missing or wrong.
 */
export function event<S extends StandardSchema>(
  type: string,
  options: EventOptions<S>,
): Contract<SchemaInput<S>, SchemaOutput<S>, SchemaInput<S>> {
  checkEvent(type, options);
  const create = (data: SchemaInput<S>, given?: DraftOptions): Draft<SchemaInput<S>> =>
    createDraft(contract, data, given);
  const contract: Contract<SchemaInput<S>, SchemaOutput<S>, SchemaInput<S>> = Object.assign(
    create,
    {
      type,
      version: options.version,
      destination: options.destination,
      schema: options.data as StandardSchema<unknown, SchemaOutput<S>>,
      upcast: options.upcast ?? {},
    },
  );
  return Object.freeze(contract);
}

/**
 * Checks the data of a draft before it is published; a promise only for asynchronous schemas.
 *
 * @throws MSG_CONTRACT_INVALID_DATA with path and text of each issue.
 */
export function validateDraft(draft: Draft): Promise<void> | void {
  const result = validateData(draft.contract, draft.data);
  if (isPromise(result)) return result.then(() => undefined);
}
