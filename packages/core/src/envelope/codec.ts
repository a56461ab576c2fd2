import { Buffer } from 'node:buffer';
import type { Native, RawHeaders } from '../driver/driver.ts';
import { contractInvalidData, contractInvalidJson } from '../errors/create.ts';
import type { Envelope } from './envelope.ts';
import { readEnvelope } from './read-envelope.ts';

/** Bytes to envelope and back. `decode` may use headers for formats that keep fields there. */
export interface Codec {
  readonly name: string;
  readonly contentType: string;
  /** Throws MSG_CONTRACT_INVALID_DATA when the data has no form in this format. */
  encode(envelope: Envelope): Uint8Array;
  /** Throws MSG_CONTRACT_INVALID_JSON or MSG_CONTRACT_INVALID_ENVELOPE. */
  decode(raw: RawMessage): Envelope;
}

export interface RawMessage {
  readonly body: Uint8Array;
  readonly headers: RawHeaders;
  readonly native: Native;
}

/** Drops a leading byte order mark, as RFC 8259 allows. */
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * UTF-8 JSON in wire names and fixed field order; the same envelope gives the same bytes.
 *
 * @throws MSG_CONTRACT_INVALID_DATA the data is undefined, or holds a BigInt or a cycle.
 */
export function encodeEnvelope(envelope: Envelope): Uint8Array {
  // A Buffer, which clients take as it is; twice as fast as a TextEncoder for the usual sizes.
  return Buffer.from(wholeToJson(envelope) ?? apartToJson(envelope));
}

/** In one call, which is the cheapest; undefined when the data wants a closer look. */
function wholeToJson(envelope: Envelope): string | undefined {
  const { data } = envelope;
  if (typeof data !== 'object' || data === null || 'toJSON' in data) return undefined;
  try {
    return JSON.stringify(wireOf(envelope, data));
  } catch {
    // Told apart by `apartToJson`, which fails at the same place and says why.
    return undefined;
  }
}

function apartToJson(envelope: Envelope): string {
  const head = JSON.stringify(wireOf(envelope, undefined));
  return `${head.slice(0, -1)},"data":${dataToJson(envelope)}}`;
}

/** Properties that are undefined are left out by JSON.stringify. */
function wireOf(envelope: Envelope, data: unknown): object {
  const { aggregate } = envelope;
  return {
    id: envelope.id,
    type: envelope.type,
    schema_version: envelope.schemaVersion,
    occurred_at: envelope.occurredAt,
    producer: envelope.producer,
    correlation_id: envelope.correlationId,
    causation_id: envelope.causationId,
    aggregate: aggregate && { type: aggregate.type, id: aggregate.id, version: aggregate.version },
    expires_at: envelope.expiresAt,
    data,
  };
}

/**
 * Reads an envelope. Fields that are not known pass; optional fields may be null.
 *
 * @throws MSG_CONTRACT_INVALID_JSON not UTF-8, or not JSON.
 * @throws MSG_CONTRACT_INVALID_ENVELOPE a field is missing or wrong; names it with its value.
 */
export function decodeEnvelope(body: Uint8Array): Envelope {
  let parsed: unknown;
  try {
    parsed = JSON.parse(decoder.decode(body));
  } catch (cause) {
    throw contractInvalidJson({ reason: reasonOf(cause), bytes: body.byteLength });
  }
  return readEnvelope(parsed);
}

/** The engine's own text quotes the body, which may hold what no log should: only the place is kept. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof SyntaxError)) return 'the bytes are not valid UTF-8';
  const [, place] = /at position (\d+)/.exec(cause.message) ?? [];
  if (place !== undefined) return `it breaks at position ${place}`;
  const isShort = cause.message.includes('end of JSON');
  return isShort ? 'it ends too early or is empty' : 'it has a character that JSON does not allow';
}

/** The default codec. */
export const envelopeCodec: Codec = {
  name: 'envelope',
  contentType: 'application/json',
  encode: encodeEnvelope,
  decode: (raw) => decodeEnvelope(raw.body),
};

function dataToJson({ type, schemaVersion, data }: Envelope): string {
  let text = 'has no JSON form; an event without content takes null or {}';
  let cause: unknown;
  try {
    const json = JSON.stringify(data) as string | undefined;
    if (json !== undefined) return json;
  } catch (error) {
    text = error instanceof Error ? error.message : String(error);
    cause = error;
  }
  throw contractInvalidData({ type, version: schemaVersion, issues: [{ path: '', text }], cause });
}
