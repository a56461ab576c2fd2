import type { Mirror, Outgoing, RawHeaders } from '../driver/driver.ts';
import { isWireHeader, type WireHeaders, writeWireHeaders } from '../envelope/wire-headers.ts';
import { describeError } from '../failure/describe-error.ts';
import { type ParkedRecord, parkedHeaders } from '../parking/parked-message.ts';
import { deferDedupId, parkDedupId, retryDedupId, shortenId } from '../settle/dedup-id.ts';
import type { Judged } from './incoming.ts';

type Copy = Omit<Outgoing, 'to'>;

/** The same id and bytes, one attempt further, not before its due time. */
export function retryCopy(
  message: Judged,
  at: { readonly consumer: string; readonly dueAtMs: number; readonly error: unknown },
): Copy {
  const { headers, attempt, unknowns, id } = message;
  const next = attempt + 1;
  const lastError = describeError(at.error).text;
  return copyOf(
    message,
    { ...headers, attempt: next, unknowns, dueAtMs: at.dueAtMs, lastError },
    retryDedupId(id, at.consumer, headers.cycle, next),
  );
}

/** The same attempt again: it came before its due time. */
export function deferCopy(
  message: Judged,
  at: { readonly consumer: string; readonly dueAtMs: number },
): Copy {
  const { headers, attempt, unknowns, id } = message;
  const deferrals = headers.deferrals + 1;
  return copyOf(
    message,
    { ...headers, attempt, unknowns, deferrals, dueAtMs: at.dueAtMs },
    deferDedupId(id, at.consumer, headers.cycle, attempt, deferrals),
  );
}

/** The same id and bytes with the parking record in its headers. */
export function parkCopy(
  message: Judged,
  at: { readonly consumer: string; readonly record: ParkedRecord },
): Copy {
  const { headers, id } = message;
  const copy = copyOf(message, headers, parkDedupId(id, at.consumer, headers.cycle));
  return { ...copy, headers: { ...copy.headers, ...parkedHeaders(at.record) } };
}

/**
 * For a copy that the broker refuses as it is: without foreign headers, native fields no longer than
 * an id may be. Nothing of the message is lost, since the body says it all.
 */
export function leanCopy(copy: Copy, idChars: number): Copy {
  const { correlationId, ...mirror } = copy.mirror;
  const keepsCorrelation = correlationId !== undefined && isShort(correlationId, idChars);
  const own = Object.entries(copy.headers).filter(([name]) => isWireHeader(name));
  return {
    ...copy,
    headers: Object.fromEntries(own),
    mirror: {
      ...mirror,
      id: shortenId(mirror.id, idChars),
      type: shortenId(mirror.type, idChars),
      ...(keepsCorrelation && { correlationId }),
    },
  };
}

function isShort(text: string, maxBytes: number): boolean {
  return Buffer.byteLength(text) <= maxBytes;
}

function copyOf(message: Judged, headers: WireHeaders, dedupId: string): Copy {
  const { incoming, envelope } = message;
  const retryFrom = headers.retryFrom ?? incoming.native.subject;
  const key = envelope?.aggregate?.id ?? incoming.key;
  return {
    body: incoming.body,
    mirror: mirrorOf(message),
    headers: {
      ...foreignHeaders(incoming.headers),
      ...writeWireHeaders({ ...headers, ...(retryFrom !== undefined && { retryFrom }) }),
    },
    ...(key !== undefined && { key }),
    dedupId,
  };
}

function mirrorOf({ id, incoming, envelope }: Judged): Mirror {
  if (envelope === undefined) {
    return {
      id,
      type: incoming.native.type ?? '',
      contentType: 'application/octet-stream',
    };
  }
  const { correlationId } = envelope;
  return {
    id,
    type: envelope.type,
    contentType: 'application/json',
    occurredAtMs: Date.parse(envelope.occurredAt),
    ...(correlationId !== undefined && { correlationId }),
  };
}

function foreignHeaders(headers: RawHeaders): Record<string, string> {
  const foreign: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!isWireHeader(name)) foreign[name] = value;
  }
  return foreign;
}
