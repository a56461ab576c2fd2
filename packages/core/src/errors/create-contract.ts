import { describeValue } from './describe-value.ts';
import { MessagingError } from './messaging-error.ts';

export function contractInvalidJson(at: {
  readonly reason: string;
  readonly bytes?: number;
  readonly cause?: unknown;
}): MessagingError {
  const size = at.bytes === undefined ? '' : ` of ${at.bytes} bytes`;
  return new MessagingError(
    'MSG_CONTRACT_INVALID_JSON',
    `The body${size} is not UTF-8 JSON: ${at.reason}. ` +
      'Correct the publisher, or give the destination a codec that reads its format.',
    { details: { reason: at.reason, bytes: at.bytes }, cause: at.cause },
  );
}

/** `field` in wire names, for example `aggregate.id`. */
export function contractInvalidEnvelope(at: {
  readonly field: string;
  readonly value: unknown;
  readonly expected: string;
}): MessagingError {
  const { field, value, expected } = at;
  return new MessagingError(
    'MSG_CONTRACT_INVALID_ENVELOPE',
    `Envelope field ${field} is ${describeValue(value)}: expected ${expected}. ` +
      'Correct the publisher.',
    { details: { field, value: describeValue(value), expected } },
  );
}

export function contractUnknownType(at: {
  readonly type: string;
  readonly id?: string;
  readonly consumer?: string;
}): MessagingError {
  const by = at.consumer === undefined ? '' : ` of consumer ${at.consumer}`;
  return new MessagingError(
    'MSG_CONTRACT_UNKNOWN_TYPE',
    `No handler${by} takes messages of type ${describeValue(at.type)}. ` +
      'Add a handler, or let unhandled types be acked.',
    { details: { type: at.type, id: at.id, consumer: at.consumer } },
  );
}

export function contractUnknownVersion(at: {
  readonly type: string;
  readonly version: number;
  readonly known: readonly number[];
}): MessagingError {
  const { type, version, known } = at;
  return new MessagingError(
    'MSG_CONTRACT_UNKNOWN_VERSION',
    `Schema version ${version} of ${type} is not known; known are ${known.join(', ') || 'none'}. ` +
      'Deploy a consumer with a contract or an upcast step for it, then redrive.',
    { details: { type, version, known } },
  );
}

export interface DataIssue {
  /** Dotted path inside `data`; empty: the data as a whole. */
  readonly path: string;
  readonly text: string;
}

export function contractInvalidData(at: {
  readonly type: string;
  readonly version: number;
  readonly issues: readonly DataIssue[];
  readonly cause?: unknown;
}): MessagingError {
  const { type, version, issues, cause } = at;
  const shown = issues.slice(0, MAX_ISSUES);
  const more = issues.length > MAX_ISSUES ? `; and ${issues.length - MAX_ISSUES} more` : '';
  const list = shown.map(({ path, text }) => `data${path && `.${path}`}: ${text}`).join('; ');
  return new MessagingError(
    'MSG_CONTRACT_INVALID_DATA',
    `The data of ${type} version ${version} does not fit its schema: ${list}${more}. ` +
      'Correct the data, or publish it under a new schema version.',
    { details: { type, version, issues: shown }, cause },
  );
}

export function contractUpcastFailed(at: {
  readonly type: string;
  readonly from: number;
  readonly to: number;
  readonly cause?: unknown;
}): MessagingError {
  const { type, from, to, cause } = at;
  const why = cause instanceof Error ? `: ${describeValue(cause.message)}` : '';
  return new MessagingError(
    'MSG_CONTRACT_UPCAST_FAILED',
    `The upcast of ${type} from schema version ${from} to ${to} threw${why}. ` +
      'Correct the step, then redrive.',
    { details: { type, from, to }, cause },
  );
}

/** `id`: what the message is parked under. */
export function contractNoId(at: {
  readonly id: string;
  readonly source?: string;
}): MessagingError {
  const from = at.source === undefined ? '' : ` from ${at.source}`;
  return new MessagingError(
    'MSG_CONTRACT_NO_ID',
    `A message${from} has neither an envelope nor a message id of its own. It is parked under ` +
      `${at.id}, made from its position or content. Let the publisher set a message id.`,
    { details: { id: at.id, source: at.source } },
  );
}

export function orderVersionMissing(at: {
  readonly consumer: string;
  readonly id: string;
  readonly policy: string;
}): MessagingError {
  const { consumer, id, policy } = at;
  return new MessagingError(
    'MSG_ORDER_VERSION_MISSING',
    `Message ${id} has no aggregate version, which ordering policy ${policy} of consumer ` +
      `${consumer} needs. Publish it with aggregate: { type, id, version }.`,
    { details: { consumer, id, policy } },
  );
}

const MAX_ISSUES = 10;
