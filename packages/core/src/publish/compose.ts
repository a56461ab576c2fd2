import type { Draft } from '../contract/contract.ts';
import type { Mirror, Outgoing, RawHeaders } from '../driver/driver.ts';
import type { Address } from '../driver/topology.ts';
import { envelopeCodec } from '../envelope/codec.ts';
import type { Aggregate, Envelope } from '../envelope/envelope.ts';
import { firstWireHeaders } from '../envelope/wire-headers.ts';
import { firstDedupId } from '../settle/dedup-id.ts';

/** A message ready for the wire, before its address is known. */
export interface Composed {
  readonly id: string;
  readonly type: string;
  readonly destination: string;
  readonly body: Uint8Array;
  readonly mirror: Mirror;
  readonly headers: RawHeaders;
  readonly key: string | undefined;
  readonly dedupId: string;
}

/** The message being handled, which a new one descends from. */
export interface Parent {
  readonly id: string;
  readonly correlationId: string;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

export interface ComposeOptions {
  readonly producer: string;
  readonly nowMs: number;
  readonly parent?: Parent | undefined;
  /** Replaces `version: 'next'` of the draft. */
  readonly version?: number | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** Envelope, bytes and headers of a draft. Correlation: the draft's, else the parent's, else its own id. */
export function compose(draft: Draft, options: ComposeOptions): Composed {
  const envelope = envelopeOf(draft, options);
  const { contract } = draft;
  const mirror: Mirror = {
    id: envelope.id,
    type: envelope.type,
    contentType: envelopeCodec.contentType,
    occurredAtMs: Date.parse(envelope.occurredAt),
    correlationId: envelope.correlationId,
  };
  const traceparent = options.traceparent ?? options.parent?.traceparent;
  const tracestate = options.tracestate ?? options.parent?.tracestate;
  return {
    id: envelope.id,
    type: envelope.type,
    destination: contract.destination,
    body: envelopeCodec.encode(envelope),
    mirror,
    headers: firstWireHeaders(options.nowMs, traceparent, tracestate),
    key: envelope.aggregate?.id,
    dedupId: firstDedupId(envelope.id),
  };
}

/** The message for one address. A literal, since spreads cost about as much as the JSON of a message. */
export function addressed(message: Composed, to: Address): Outgoing {
  const { body, mirror, headers, key, dedupId } = message;
  return key === undefined
    ? { to, body, mirror, headers, dedupId }
    : { to, body, mirror, headers, key, dedupId };
}

function envelopeOf(
  draft: Draft,
  { producer, parent, version }: ComposeOptions,
): Envelope & { readonly correlationId: string } {
  const causationId = draft.causationId ?? parent?.id;
  const aggregate = aggregateOf(draft, version);
  const envelope: Writable<Envelope & { readonly correlationId: string }> = {
    id: draft.id,
    type: draft.contract.type,
    schemaVersion: draft.contract.version,
    occurredAt: draft.occurredAt,
    producer,
    correlationId: draft.correlationId ?? parent?.correlationId ?? draft.id,
    data: draft.data,
  };
  if (causationId !== undefined) envelope.causationId = causationId;
  if (aggregate !== undefined) envelope.aggregate = aggregate;
  if (draft.expiresAt !== undefined) envelope.expiresAt = draft.expiresAt;
  return envelope;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function aggregateOf(draft: Draft, version: number | undefined): Aggregate | undefined {
  const { aggregate } = draft;
  if (aggregate === undefined) return undefined;
  const given = version ?? (aggregate.version === 'next' ? undefined : aggregate.version);
  const { type, id } = aggregate;
  return given === undefined ? { type, id } : { type, id, version: given };
}
