import type { OutboxMessage } from '@ackord/core/store';
import { storeDuplicateId } from '@ackord/core/store';
import type { Statement } from './client.ts';
import type { Database } from './database.ts';
import { hashSlot } from './hash-slot.ts';
import { STORE } from './name.ts';
import { insertRows, MESSAGE_ONCE } from './sql/outbox.sql.ts';

/** A statement takes at most 65,535 parameters; small texts are planned faster. */
const ROWS_PER_STATEMENT = 200;
const MOST_PREPARED_ROWS = 4;

/** Multi-row inserts in the order of the messages, which is the order of publishing. */
export function insertStatements(
  database: Database,
  messages: readonly OutboxMessage[],
): Statement[] {
  const statements: Statement[] = [];
  for (let at = 0; at < messages.length; at += ROWS_PER_STATEMENT) {
    const part = messages.slice(at, at + ROWS_PER_STATEMENT);
    const { text, name } = database.sql(insertRows(part.length));
    const values =
      part.length === 1 ? rowValues(part[0] as OutboxMessage) : part.flatMap(rowValues);
    // Each number of rows is a statement of its own; rare ones are not worth being kept prepared.
    const kept = name !== undefined && part.length <= MOST_PREPARED_ROWS;
    statements.push(kept ? { text, name, values } : { text, values });
  }
  return statements;
}

function rowValues(message: OutboxMessage): readonly unknown[] {
  const { body, key, messageId, occurredAtMs } = message;
  return [
    messageId,
    message.broker,
    message.target,
    message.destination,
    message.type,
    key ?? null,
    message.dedupId,
    message.contentType,
    message.correlationId ?? null,
    occurredAtMs === undefined ? null : new Date(occurredAtMs).toISOString(),
    JSON.stringify(message.headers),
    // A Buffer, because adapters know it as bytes; a view of the same memory.
    Buffer.from(body.buffer, body.byteOffset, body.byteLength),
    hashSlot(key ?? messageId),
  ];
}

/** `MSG_STORE_DUPLICATE_ID` for a repeated id, also inside an adapter's own error; else the error itself. */
export function outboxError(error: unknown, messages: readonly OutboxMessage[]): unknown {
  if (!repeatsId(error)) return error;
  const id = messages.length === 1 ? messages[0]?.messageId : undefined;
  return storeDuplicateId({ store: STORE, id: id ?? idIn(error) ?? 'of this batch', cause: error });
}

function repeatsId(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 4) return false;
  const { constraint, message, cause, driverError, original } = error as Record<string, unknown>;
  if (constraint === MESSAGE_ONCE) return true;
  if (typeof message === 'string' && message.includes(MESSAGE_ONCE)) return true;
  return [cause, driverError, original].some((inner) => repeatsId(inner, depth + 1));
}

/** PostgreSQL names the row: `Key (message_id, broker, target)=(m1, main, orders) already exists.` */
function idIn(error: unknown): string | undefined {
  const { detail } = error as { readonly detail?: unknown };
  return typeof detail === 'string' ? /\)=\((.+?), /.exec(detail)?.[1] : undefined;
}
