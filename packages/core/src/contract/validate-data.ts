import { contractInvalidData, type DataIssue } from '../errors/create.ts';
import type { StandardIssue, StandardResult, StandardSchema } from './standard-schema.ts';

interface Subject {
  readonly type: string;
  readonly version: number;
  readonly schema: StandardSchema<unknown>;
}

/**
 * The validated data; a promise only when the schema is asynchronous.
 *
 * @throws MSG_CONTRACT_INVALID_DATA with the path and text of each issue. What the schema itself
 * throws passes through.
 */
export function validateData(contract: Subject, data: unknown): unknown {
  const result = contract.schema['~standard'].validate(data);
  if (isPromise(result)) return result.then((late) => accept(contract, late));
  return accept(contract, result);
}

/** Schemas may answer with any thenable, also one of another realm. */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as { readonly then?: unknown } | undefined | null)?.then === 'function';
}

function accept({ type, version }: Subject, result: StandardResult<unknown>): unknown {
  if (result.issues === undefined) return result.value;
  throw contractInvalidData({ type, version, issues: result.issues.map(readable) });
}

function readable({ path = [], message }: StandardIssue): DataIssue {
  const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return { path: keys.join('.'), text: message };
}
