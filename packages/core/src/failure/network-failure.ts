import type { FailureClass } from './failure-class.ts';

/** `code` of Node's and undici's errors for connections that broke or did not come about. */
const TRANSIENT_CODES: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'ETIMEDOUT',
  'ESOCKETTIMEDOUT',
  'EPIPE',
  'EAI_AGAIN',
  'ENETDOWN',
  'ENETRESET',
  'ENETUNREACH',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ERR_SOCKET_CLOSED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_SOCKET',
]);

/** `name` of what an aborted signal throws; the run was cut short, the message is not to blame. */
const TRANSIENT_NAMES: ReadonlySet<unknown> = new Set(['AbortError', 'TimeoutError']);

export function classifyNetwork(error: unknown): FailureClass | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return TRANSIENT_CODES.has(code) || TRANSIENT_NAMES.has(name) ? 'transient' : undefined;
}
