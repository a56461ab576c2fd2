import type { Draft } from '../contract/contract.ts';
import type { Mirror, RawHeaders } from '../driver/driver.ts';
import { envelopeCodec } from '../envelope/codec.ts';
import type { Aggregate, Envelope } from '../envelope/envelope.ts';
import { writeWireHeaders } from '../envelope/wire-headers.ts';
import { firstDedupId } from '../settle/dedup-id.ts';

/** A message ready for the wire, before its address is known. */
export interface Composed {
  readonly id: string;
  readonly type: string;
  readonly destination: string;
  readonly body: Uint8Array;
  readonly mirror: Mirror;
  readonly headers: RawHeaders;
  readonly key?: string;
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
    headers: writeWireHeaders({
      attempt: 1,
      unknowns: 0,
      cycle: 0,
      deferrals: 0,
      firstPublishedAtMs: options.nowMs,
      ...(traceparent !== undefined && { traceparent }),
      ...(tracestate !== undefined && { tracestate }),
    }),
    ...(envelope.aggregate !== undefined && { key: envelope.aggregate.id }),
    dedupId: firstDedupId(envelope.id),
  };
}

function envelopeOf(
  draft: Draft,
  { producer, parent, version }: ComposeOptions,
): Envelope & { readonly correlationId: string } {
  const causationId = draft.causationId ?? parent?.id;
  const aggregate = aggregateOf(draft, version);
  return {
    id: draft.id,
    type: draft.contract.type,
    schemaVersion: draft.contract.version,
    occurredAt: draft.occurredAt,
    producer,
    correlationId: draft.correlationId ?? parent?.correlationId ?? draft.id,
    ...(causationId !== undefined && { causationId }),
    ...(aggregate !== undefined && { aggregate }),
    ...(draft.expiresAt !== undefined && { expiresAt: draft.expiresAt }),
    data: draft.data,
  };
}

function aggregateOf(draft: Draft, version: number | undefined): Aggregate | undefined {
  const { aggregate } = draft;
  if (aggregate === undefined) return undefined;
  const given = version ?? (aggregate.version === 'next' ? undefined : aggregate.version);
  const { type, id } = aggregate;
  return given === undefined ? { type, id } : { type, id, version: given };
}
