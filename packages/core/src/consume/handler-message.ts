import type { Envelope } from '../envelope/envelope.ts';
import type { Parent } from '../publish/compose.ts';
import type { Message } from './handler.ts';
import type { Judged } from './incoming.ts';

/** What the handler sees. A copy of the envelope's fields: changing it changes no redelivery. */
export function messageOf(envelope: Envelope, data: unknown): Message {
  return {
    id: envelope.id,
    type: envelope.type,
    schemaVersion: envelope.schemaVersion,
    occurredAt: envelope.occurredAt,
    producer: envelope.producer,
    correlationId: envelope.correlationId ?? envelope.id,
    causationId: envelope.causationId,
    aggregate: envelope.aggregate && { ...envelope.aggregate },
    data,
  };
}

/** What messages added by the handler descend from. */
export function parentOf({ id, headers, envelope }: Judged): Parent {
  return {
    id,
    correlationId: envelope?.correlationId ?? id,
    traceparent: headers.traceparent,
    tracestate: headers.tracestate,
  };
}
