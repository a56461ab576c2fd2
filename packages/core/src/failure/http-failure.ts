import type { FailureClass } from './failure-class.ts';

const BY_STATUS: ReadonlyMap<unknown, FailureClass> = new Map<unknown, FailureClass>([
  [408, 'transient'],
  [429, 'transient'],
  [502, 'transient'],
  [503, 'transient'],
  [504, 'transient'],
  [400, 'permanent'],
  [422, 'permanent'],
  // May be a wrong deployment as well as a wrong message: a person has to look.
  [401, 'unknown'],
  [403, 'unknown'],
  [404, 'unknown'],
  [409, 'unknown'],
]);

interface HttpLike {
  readonly status?: unknown;
  readonly statusCode?: unknown;
  readonly headers?: unknown;
  readonly response?: unknown;
}

/** Reads `status` or `statusCode` of the error or of its `response`. */
export function classifyHttp(error: unknown): FailureClass | undefined {
  const http = asHttp(error);
  if (http === undefined) return undefined;
  return byStatus(http) ?? byStatus(asHttp(http.response));
}

/**
 * Milliseconds that a `Retry-After` header asks for: whole seconds or an HTTP date, on the error
 * or its `response`, in a plain object or a `Headers`. Undefined: none, past, or not readable.
 */
export function retryAfterOf(error: unknown, nowMs: number): number | undefined {
  const http = asHttp(error);
  const value = headerOf(http?.headers) ?? headerOf(asHttp(http?.response)?.headers);
  if (value === undefined) return undefined;
  const seconds = Number(value);
  const ms = Number.isNaN(seconds) ? Date.parse(String(value)) - nowMs : seconds * 1_000;
  return ms > 0 ? Math.ceil(ms) : undefined;
}

function byStatus(http: HttpLike | undefined): FailureClass | undefined {
  return http && (BY_STATUS.get(http.status) ?? BY_STATUS.get(http.statusCode));
}

function headerOf(headers: unknown): string | number | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const plain = headers as Readonly<Record<string, unknown>>;
  const value = hasGet(headers)
    ? headers.get('retry-after')
    : (plain['retry-after'] ?? plain['Retry-After']);
  return (typeof value === 'string' && value !== '') || typeof value === 'number'
    ? value
    : undefined;
}

function hasGet(headers: object): headers is { get(name: string): unknown } {
  return 'get' in headers && typeof headers.get === 'function';
}

function asHttp(value: unknown): HttpLike | undefined {
  return typeof value === 'object' && value !== null ? value : undefined;
}
