import type { FaultKind } from './driver.ts';

/** `code` of the error and a part of its message; undefined matches any. The first row that fits decides. */
export type FaultRow = readonly [
  code: number | string | RegExp | undefined,
  text: RegExp | undefined,
  kind: FaultKind,
];

/** An error may wrap others; deeper ones say nothing about this one any more. */
const MAX_DEPTH = 5;

/**
 * The kind of a raw client error by a table. Looks at `cause` when the error itself says nothing.
 *
 * @param codeInText - Finds a code in a message, for clients that give it there only.
 */
export function classifyBy(
  rows: readonly FaultRow[],
  error: unknown,
  codeInText?: RegExp,
): FaultKind {
  let at = error;
  for (let depth = 0; at instanceof Error && depth < MAX_DEPTH; depth += 1) {
    const { message } = at;
    const code = errorCode(at) ?? codeInText?.exec(message)?.[1] ?? '';
    const row = rows.find(
      ([wanted, text]) => fits(wanted, code) && (text === undefined || text.test(message)),
    );
    if (row !== undefined) return row[2];
    at = at.cause;
  }
  return 'unknown';
}

/** `code` of an error as text. */
export function errorCode(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'number' || typeof code === 'string' ? String(code) : undefined;
}

function fits(wanted: FaultRow[0], code: string): boolean {
  if (wanted === undefined) return true;
  return wanted instanceof RegExp ? wanted.test(code) : String(wanted) === code;
}
