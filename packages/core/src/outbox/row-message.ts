import type { Outgoing } from '../driver/driver.ts';
import type { OutboxRow } from '../store/outbox-store.ts';

/** The row as it goes to the broker: the same bytes and dedup id at every try. */
export function toOutgoing(row: OutboxRow): Outgoing {
  const { correlationId, occurredAtMs, key } = row;
  return {
    to: row.target,
    body: row.body,
    mirror: {
      id: row.messageId,
      type: row.type,
      contentType: row.contentType,
      ...(correlationId !== undefined && { correlationId }),
      ...(occurredAtMs !== undefined && { occurredAtMs }),
    },
    headers: row.headers,
    ...(key !== undefined && { key }),
    dedupId: row.dedupId,
  };
}
