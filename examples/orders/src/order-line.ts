import { z } from 'zod';
import { Order } from './contracts.ts';

const OrderLine = Order.extend({
  /** Given: the line is a message of another shop, in that version of the contract. */
  schemaVersion: z.int().positive().optional(),
});

/** A line of the input, or why it is no order. */
export type ReadLine =
  | { readonly order: Order; readonly schemaVersion?: number | undefined }
  | { readonly wrong: string };

/** `{"orderId": "o-1", "sku": "book-17", "count": 2}`. In version 1 the count may be missing. */
export function readOrderLine(text: string): ReadLine {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { wrong: `not JSON: ${(error as Error).message}` };
  }
  const old = (json as { schemaVersion?: unknown } | null)?.schemaVersion === 1;
  const read = OrderLine.safeParse(old ? { count: 1, ...(json as object) } : json);
  if (!read.success) return { wrong: read.error.issues.map(issueText).join('; ') };
  const { schemaVersion, ...order } = read.data;
  return { order, schemaVersion };
}

function issueText({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `"${path.join('.')}": ${message}`;
}
