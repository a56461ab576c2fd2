import { z } from 'zod';

/** Readable in every log, and nothing that a database or a broker refuses. */
const name = z.string().regex(/^[\p{L}\p{N}][\p{L}\p{N}._:-]{0,99}$/u, {
  error: 'must be 1 to 100 letters, digits, dots, colons, dashes or underscores',
});

const OrderLine = z.object({
  orderId: name,
  sku: name,
  count: z.int().positive().max(1_000_000),
  /** Given: the line is a message of another shop, in that version of the contract. */
  schemaVersion: z.int().positive().optional(),
});

export type Order = Omit<z.infer<typeof OrderLine>, 'schemaVersion'>;

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
