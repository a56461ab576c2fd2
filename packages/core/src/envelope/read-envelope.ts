import { contractInvalidEnvelope } from '../errors/create.ts';
import type { Aggregate, Envelope } from './envelope.ts';
import {
  ID_FORM,
  INSTANT_FORM,
  isInstant,
  isText,
  MAX_ID_CHARS,
  MAX_NAME_CHARS,
  NAME_FORM,
} from './field-rules.ts';

interface WireEnvelope {
  readonly id?: unknown;
  readonly type?: unknown;
  readonly schema_version?: unknown;
  readonly occurred_at?: unknown;
  readonly producer?: unknown;
  readonly correlation_id?: unknown;
  readonly causation_id?: unknown;
  readonly aggregate?: unknown;
  readonly expires_at?: unknown;
  readonly data?: unknown;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Checks what a JSON body holds. Runs once per delivery, so the good path only compares. */
export function readEnvelope(parsed: unknown): Envelope {
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw wrong('(body)', parsed, 'a JSON object');
  }
  const wire = parsed as WireEnvelope;
  const { id, type, schema_version: version, occurred_at: occurredAt, producer } = wire;
  if (!isText(id, MAX_ID_CHARS)) throw wrong('id', id, ID_FORM);
  if (!isText(type, MAX_NAME_CHARS)) throw wrong('type', type, NAME_FORM);
  if (!isCount(version, 1)) throw wrong('schema_version', version, 'an integer >= 1');
  if (!isInstant(occurredAt)) throw wrong('occurred_at', occurredAt, INSTANT_FORM);
  if (!isText(producer, MAX_NAME_CHARS)) throw wrong('producer', producer, NAME_FORM);
  if (wire.data === undefined) throw wrong('data', undefined, 'any JSON value');
  const envelope: Writable<Envelope> = {
    id,
    type,
    schemaVersion: version,
    occurredAt,
    producer,
    data: wire.data,
  };
  readOptional(wire, envelope);
  return envelope;
}

function readOptional(wire: WireEnvelope, into: Writable<Envelope>): void {
  const { correlation_id: correlation, causation_id: causation, expires_at: expiresAt } = wire;
  if (correlation !== undefined && correlation !== null) {
    if (!isText(correlation, MAX_ID_CHARS)) throw wrong('correlation_id', correlation, ID_FORM);
    into.correlationId = correlation;
  }
  if (causation !== undefined && causation !== null) {
    if (!isText(causation, MAX_ID_CHARS)) throw wrong('causation_id', causation, ID_FORM);
    into.causationId = causation;
  }
  if (wire.aggregate !== undefined && wire.aggregate !== null) {
    into.aggregate = readAggregate(wire.aggregate);
  }
  if (expiresAt !== undefined && expiresAt !== null) {
    if (!isInstant(expiresAt)) throw wrong('expires_at', expiresAt, INSTANT_FORM);
    into.expiresAt = expiresAt;
  }
}

function readAggregate(value: unknown): Aggregate {
  if (typeof value !== 'object') throw wrong('aggregate', value, 'an object with type and id');
  const { type, id, version } = value as {
    readonly type?: unknown;
    readonly id?: unknown;
    readonly version?: unknown;
  };
  if (!isText(type, MAX_NAME_CHARS)) throw wrong('aggregate.type', type, NAME_FORM);
  if (!isText(id, MAX_ID_CHARS)) throw wrong('aggregate.id', id, ID_FORM);
  if (version === undefined || version === null) return { type, id };
  if (!isCount(version, 0)) throw wrong('aggregate.version', version, 'an integer >= 0');
  return { type, id, version };
}

function isCount(value: unknown, min: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= min;
}

function wrong(field: string, value: unknown, expected: string): Error {
  return contractInvalidEnvelope({ field, value, expected });
}
