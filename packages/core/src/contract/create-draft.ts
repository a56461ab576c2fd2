import {
  ID_FORM,
  INSTANT_FORM,
  isInstant,
  isText,
  MAX_ID_CHARS,
  MAX_NAME_CHARS,
  NAME_FORM,
} from '../envelope/field-rules.ts';
import { createMessageId } from '../envelope/message-id.ts';
import { configInvalid, contractInvalidEnvelope } from '../errors/create.ts';
import type { Contract, Draft, DraftAggregate, DraftOptions } from './contract.ts';

const KEYS: ReadonlySet<string> = new Set<keyof DraftOptions>([
  'id',
  'aggregate',
  'occurredAt',
  'expiresAt',
  'correlationId',
  'causationId',
]);

/**
 * @throws MSG_CONTRACT_INVALID_ENVELOPE an option cannot stand in an envelope.
 * @throws MSG_CONFIG_INVALID an unknown option.
 */
export function createDraft<D>(contract: Contract, data: D, options: DraftOptions = {}): Draft<D> {
  checkKeys(contract, options);
  const { id, occurredAt, expiresAt, correlationId, causationId, aggregate } = options;
  const nowMs = Date.now();
  return {
    contract,
    id: id === undefined ? createMessageId(nowMs) : idOf('id', id),
    occurredAt:
      occurredAt === undefined
        ? new Date(nowMs).toISOString()
        : instantOf('occurred_at', occurredAt),
    ...(aggregate !== undefined && { aggregate: aggregateOf(aggregate) }),
    ...(expiresAt !== undefined && { expiresAt: instantOf('expires_at', expiresAt) }),
    ...(correlationId !== undefined && { correlationId: idOf('correlation_id', correlationId) }),
    ...(causationId !== undefined && { causationId: idOf('causation_id', causationId) }),
    data,
  };
}

function checkKeys({ type }: Contract, options: DraftOptions): void {
  for (const key of Object.keys(options)) {
    if (KEYS.has(key)) continue;
    const expected = `no key but ${[...KEYS].join(', ')}`;
    throw configInvalid({ option: `options of ${type}`, value: key, expected });
  }
}

function idOf(field: string, value: string): string {
  if (isText(value, MAX_ID_CHARS)) return value;
  throw contractInvalidEnvelope({ field, value, expected: ID_FORM });
}

function instantOf(field: string, value: Date | string): string {
  const text = value instanceof Date ? isoOf(value) : value;
  if (isInstant(text)) return text;
  throw contractInvalidEnvelope({ field, value: text, expected: INSTANT_FORM });
}

/** `toISOString` throws on an invalid date. */
function isoOf(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'Invalid Date' : date.toISOString();
}

function aggregateOf({ type, id, version }: DraftAggregate): DraftAggregate {
  if (!isText(type, MAX_NAME_CHARS)) throw wrong('type', type, NAME_FORM);
  if (!isText(id, MAX_ID_CHARS)) throw wrong('id', id, ID_FORM);
  if (version === undefined) return { type, id };
  if (version !== 'next' && !(Number.isSafeInteger(version) && version >= 0)) {
    throw wrong('version', version, "an integer >= 0 or 'next'");
  }
  return { type, id, version };
}

function wrong(field: string, value: unknown, expected: string): Error {
  return contractInvalidEnvelope({ field: `aggregate.${field}`, value, expected });
}
