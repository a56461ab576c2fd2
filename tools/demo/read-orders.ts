import { readFileSync, statSync } from 'node:fs';
import { type Order, OrderCreated } from '../../examples/orders/src/contracts.ts';
import { readOrderLine } from '../../examples/orders/src/order-line.ts';
import { messageIdOf } from '../../examples/orders/src/order-service.ts';
import { UsageError } from './usage-error.ts';

/** A message that is put on the broker past the library, as another program would. */
export interface RawMessage {
  readonly id: string;
  readonly body: string;
}

export type InputLine =
  | { readonly kind: 'order'; readonly line: number; readonly order: Order }
  /** Its order id came before: the order is placed again, and its message is delivered once more. */
  | {
      readonly kind: 'again';
      readonly line: number;
      readonly order: Order;
      readonly raw: RawMessage;
    }
  /** A message of version 1, as an older shop sends it. */
  | {
      readonly kind: 'older';
      readonly line: number;
      readonly order: Order;
      readonly raw: RawMessage;
    }
  /** Has to end parked. */
  | {
      readonly kind: 'bad';
      readonly line: number;
      readonly wrong: string;
      readonly raw: RawMessage;
    };

/** Beyond it the demo would not end within its three minutes. */
const MAX_LINES = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;

const EXAMPLE = '{"orderId": "o-1", "sku": "book-17", "count": 2}';

/** @throws UsageError the file cannot be read, or holds no order. */
export function readOrders(path: string): readonly InputLine[] {
  const texts = readText(path)
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/);
  const lines: InputLine[] = [];
  const seen = new Set<string>();
  for (const [at, text] of texts.entries()) {
    if (text.trim() !== '') lines.push(inputLine(at + 1, text, seen));
  }
  if (lines.length > MAX_LINES) {
    throw new UsageError(`${path} has ${lines.length} lines; the demo takes ${MAX_LINES}.`);
  }
  if (seen.size === 0) {
    const first = lines.find((line) => line.kind === 'bad');
    const why = first ? `Line ${first.line} is ${first.wrong}` : 'It is empty';
    throw new UsageError(`${path} holds no order. ${why}.\nAn order is a line like ${EXAMPLE}.`);
  }
  return lines;
}

function inputLine(line: number, text: string, seen: Set<string>): InputLine {
  const read = readOrderLine(text);
  if ('wrong' in read) {
    return {
      kind: 'bad',
      line,
      wrong: read.wrong,
      raw: { id: `line-${line}`, body: badBody(line, text) },
    };
  }
  const { order, schemaVersion = OrderCreated.version } = read;
  if (schemaVersion > OrderCreated.version) {
    const raw = { id: `line-${line}`, body: envelope(`line-${line}`, schemaVersion, order) };
    return {
      kind: 'bad',
      line,
      wrong: `of schema version ${schemaVersion}, which nobody knows`,
      raw,
    };
  }
  const id = messageIdOf(order);
  const raw = { id, body: envelope(id, schemaVersion, order) };
  const isNew = !seen.has(order.orderId);
  seen.add(order.orderId);
  if (!isNew) return { kind: 'again', line, order, raw };
  return schemaVersion < OrderCreated.version
    ? { kind: 'older', line, order, raw }
    : { kind: 'order', line, order };
}

/** JSON becomes the data of a message; anything else is sent as it stands. */
function badBody(line: number, text: string): string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // Not JSON: that is what it has to be parked for.
    return text;
  }
  const { schemaVersion = OrderCreated.version, ...data } = Object(json) as Record<string, unknown>;
  return envelope(`line-${line}`, schemaVersion, Object(json) === json ? data : json);
}

function envelope(id: string, schemaVersion: unknown, data: unknown): string {
  return JSON.stringify({
    id,
    type: OrderCreated.type,
    schema_version: schemaVersion,
    occurred_at: new Date().toISOString(),
    producer: 'another-shop',
    data,
  });
}

function readText(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > MAX_BYTES) {
      throw new UsageError(`${path} has ${size} bytes; the demo takes ${MAX_BYTES}.`);
    }
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `${path} ${reasonOf(error)}.\nGive a file of orders (--orders FILE), one a line like ${EXAMPLE}, ` +
        'or leave --orders out for the sample.',
    );
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'does not exist';
  if (code === 'EISDIR') return 'is a directory';
  if (code === 'EACCES') return 'may not be read by this user';
  return `cannot be read: ${message}`;
}
