import type { StoreFailure } from '@ackord/core/store';
import { MessagingError } from '@ackord/core/store';

/** By whole SQLSTATE; wins over its class. Source: PostgreSQL's appendix A. */
const BY_STATE: Readonly<Record<string, StoreFailure>> = {
  '57P01': 'down', // admin_shutdown
  '57P02': 'down', // crash_shutdown
  '57P03': 'down', // cannot_connect_now
  '57P05': 'down', // idle_session_timeout
  '25P03': 'transient', // idle_in_transaction_session_timeout
  '25P04': 'transient', // transaction_timeout
  '53300': 'down', // too_many_connections
  '25006': 'down', // read_only_sql_transaction: connected to a standby
  '40P01': 'again', // deadlock_detected
  '40001': 'again', // serialization_failure
  '55P03': 'transient', // lock_not_available
  '57014': 'transient', // query_canceled, statement timeouts included
  '23514': 'permanent', // check_violation
  '23502': 'permanent', // not_null_violation
  '23503': 'unknown', // foreign_key_violation: the other row may be about to come
  '23505': 'unknown', // unique_violation
};

/** By the first two characters. */
const BY_CLASS: Readonly<Record<string, StoreFailure>> = {
  '08': 'down', // connection exceptions
  '22': 'permanent', // data exceptions
};

/** Codes of Node for a connection that could not be made or broke. */
const NETWORK: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ERR_STREAM_DESTROYED',
]);

/** Texts of pg for a lost connection, which carry no code. */
const LOST =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|timeout e(?:xpired|xceeded)|Query read timeout|Cannot use a pool after)/;

/** Causes are followed this far: adapters wrap errors once or twice. */
const DEPTH = 5;

/**
 * What an error of PostgreSQL or of a connection to it means; undefined: neither.
 *
 * @param raised - Whether a connection of this store raised the error. Others may have broken
 * connections too (a handler's HTTP call), so a bare network error counts only when it did.
 */
export function classifyError(
  error: unknown,
  raised: (error: unknown) => boolean,
): StoreFailure | undefined {
  const chain = causes(error);
  if (chain.some(isStoreDown)) return 'down';
  const ours = chain.some(raised);
  for (const link of chain) {
    const state = sqlState(link);
    if (state === undefined) continue;
    const meaning = bySqlState(state);
    // Another database of the handler is down: this one can still record the failure.
    return meaning === 'down' && !ours ? 'transient' : meaning;
  }
  if (!ours) return undefined;
  return chain.some(isNetworkError) ? 'down' : undefined;
}

/** What a SQLSTATE means; `unknown` for those not in the table. */
function bySqlState(state: string): StoreFailure {
  return BY_STATE[state] ?? BY_CLASS[state.slice(0, 2)] ?? 'unknown';
}

/** True when the connection broke, so that no answer will come. */
export function isConnectionLoss(error: unknown): boolean {
  return causes(error).some((link) => {
    const state = sqlState(link);
    // FATAL: the server closes the connection behind them.
    return state === undefined ? isNetworkError(link) : /^(?:08|57P0|25P03|25P04)/.test(state);
  });
}

function isStoreDown(error: unknown): boolean {
  return (
    MessagingError.is(error, 'MSG_STORE_COMMIT_UNKNOWN') ||
    MessagingError.is(error, 'MSG_STORE_UNAVAILABLE')
  );
}

function isNetworkError(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code === 'string' && NETWORK.has(code)) return true;
  return typeof message === 'string' && LOST.test(message);
}

/** Five characters with a severity beside them; Node's five-letter codes (`EPIPE`) have none. */
function sqlState(error: unknown): string | undefined {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown };
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return undefined;
  return severity !== undefined || /[0-9]/.test(code) ? code : undefined;
}

function causes(error: unknown): readonly object[] {
  const chain: object[] = [];
  let link = error;
  while (typeof link === 'object' && link !== null && chain.length < DEPTH) {
    chain.push(link);
    link = (link as { readonly cause?: unknown }).cause;
  }
  return chain;
}
