import type { FailureClass } from '../failure/failure-class.ts';

/** What a code stands for. `failure` undefined: it never decides about a message. */
export interface ErrorCodeInfo {
  readonly summary: string;
  readonly failure: FailureClass | undefined;
}

/** Spelled out, since declarations are made file by file. */
export type ErrorCode =
  | 'MSG_CONFIG_INVALID'
  | 'MSG_CONFIG_DELAY_UNSUPPORTED'
  | 'MSG_CONFIG_DELAY_TOO_LONG'
  | 'MSG_CONFIG_DEDUPE_WINDOW'
  | 'MSG_CONFIG_NO_STORE'
  | 'MSG_CONFIG_DUPLICATE_CONSUMER'
  | 'MSG_CONFIG_UNKNOWN_DESTINATION'
  | 'MSG_CONFIG_ORDER_UNSUPPORTED'
  | 'MSG_CONNECT_UNREACHABLE'
  | 'MSG_CONNECT_AUTH'
  | 'MSG_CONNECT_FORBIDDEN'
  | 'MSG_CONNECT_TOPOLOGY_MISSING'
  | 'MSG_CONNECT_TOPOLOGY_DRIFT'
  | 'MSG_CONNECT_CLOSED'
  | 'MSG_PUBLISH_UNROUTABLE'
  | 'MSG_PUBLISH_TOO_LARGE'
  | 'MSG_PUBLISH_INVALID'
  | 'MSG_PUBLISH_REFUSED'
  | 'MSG_PUBLISH_THROTTLED'
  | 'MSG_PUBLISH_AUTH'
  | 'MSG_PUBLISH_UNCONFIRMED'
  | 'MSG_PUBLISH_ABORTED'
  | 'MSG_PUBLISH_CLOSED'
  | 'MSG_CONSUME_HANDLER_TIMEOUT'
  | 'MSG_CONSUME_INTAKE'
  | 'MSG_CONSUME_COPY_UNCONFIRMED'
  | 'MSG_SETTLE_STALE'
  | 'MSG_CONTRACT_INVALID_JSON'
  | 'MSG_CONTRACT_INVALID_ENVELOPE'
  | 'MSG_CONTRACT_UNKNOWN_TYPE'
  | 'MSG_CONTRACT_UNKNOWN_VERSION'
  | 'MSG_CONTRACT_INVALID_DATA'
  | 'MSG_CONTRACT_UPCAST_FAILED'
  | 'MSG_CONTRACT_NO_ID'
  | 'MSG_ORDER_VERSION_MISSING'
  | 'MSG_STORE_SCHEMA'
  | 'MSG_STORE_COMMIT_REFUSED'
  | 'MSG_STORE_COMMIT_UNKNOWN'
  | 'MSG_STORE_DUPLICATE_ID'
  | 'MSG_STORE_TX_ENDED'
  | 'MSG_STORE_UNAVAILABLE'
  | 'MSG_PARK_UNREADABLE'
  | 'MSG_SHUTDOWN_DEADLINE';

const info = (failure: FailureClass | undefined, summary: string): ErrorCodeInfo => ({
  summary,
  failure,
});

/** Every code the library throws or reports. A published code never changes its meaning. */
export const ERROR_CODES: Readonly<Record<ErrorCode, ErrorCodeInfo>> = {
  MSG_CONFIG_INVALID: info('permanent', 'An option has a value that is not accepted.'),
  MSG_CONFIG_DELAY_UNSUPPORTED: info(
    'permanent',
    'The broker profile cannot hold the retry delays that were asked for.',
  ),
  MSG_CONFIG_DELAY_TOO_LONG: info(
    'permanent',
    'A retry delay is longer than the broker can hold a message.',
  ),
  MSG_CONFIG_DEDUPE_WINDOW: info(
    'permanent',
    'The Inbox forgets ids before the last retry or redrive can arrive.',
  ),
  MSG_CONFIG_NO_STORE: info('permanent', 'Something needs a store, and the bus has none.'),
  MSG_CONFIG_DUPLICATE_CONSUMER: info('permanent', 'Two consumers of one bus have the same name.'),
  MSG_CONFIG_UNKNOWN_DESTINATION: info('permanent', 'No broker of the bus knows the destination.'),
  MSG_CONFIG_ORDER_UNSUPPORTED: info(
    'permanent',
    'The ordering policy cannot be kept with this broker or store.',
  ),
  MSG_CONNECT_UNREACHABLE: info('transient', 'The broker could not be reached.'),
  MSG_CONNECT_AUTH: info('permanent', 'The broker refused the credentials.'),
  MSG_CONNECT_FORBIDDEN: info('permanent', 'The credentials lack a right that is needed.'),
  MSG_CONNECT_TOPOLOGY_MISSING: info(
    'unknown',
    'A queue, topic or stream of the plan does not exist.',
  ),
  MSG_CONNECT_TOPOLOGY_DRIFT: info('permanent', 'A resource exists with other settings.'),
  MSG_CONNECT_CLOSED: info('transient', 'The connection was closed or lost.'),
  MSG_PUBLISH_UNROUTABLE: info('permanent', 'Nothing receives what is published there.'),
  MSG_PUBLISH_TOO_LARGE: info('permanent', 'The message is over the size limit.'),
  MSG_PUBLISH_INVALID: info('permanent', 'The broker does not accept the form of the message.'),
  MSG_PUBLISH_REFUSED: info('transient', 'The broker refused to store the message.'),
  MSG_PUBLISH_THROTTLED: info('transient', 'The broker asked for fewer messages.'),
  MSG_PUBLISH_AUTH: info('unknown', 'Publishing there is not allowed.'),
  MSG_PUBLISH_UNCONFIRMED: info(
    'transient',
    'No confirm arrived: the message may or may not be stored.',
  ),
  MSG_PUBLISH_ABORTED: info('transient', 'The publish was aborted before anything was sent.'),
  MSG_PUBLISH_CLOSED: info('transient', 'The bus is closed or closing; nothing was sent.'),
  MSG_CONSUME_HANDLER_TIMEOUT: info('transient', 'A handler did not end in time.'),
  MSG_CONSUME_INTAKE: info('transient', 'Receiving from a source failed and is being rebuilt.'),
  MSG_CONSUME_COPY_UNCONFIRMED: info(
    'transient',
    'A retry or parking copy was not confirmed; the source keeps the message.',
  ),
  MSG_SETTLE_STALE: info(
    undefined,
    'A decision came after its session or lease had ended and was not sent.',
  ),
  MSG_CONTRACT_INVALID_JSON: info('permanent', 'The body is not UTF-8 JSON.'),
  MSG_CONTRACT_INVALID_ENVELOPE: info('permanent', 'An envelope field is missing or wrong.'),
  MSG_CONTRACT_UNKNOWN_TYPE: info('permanent', 'No contract is known for the message type.'),
  MSG_CONTRACT_UNKNOWN_VERSION: info('permanent', 'No contract fits the schema version.'),
  MSG_CONTRACT_INVALID_DATA: info('permanent', 'The data does not fit the schema.'),
  MSG_CONTRACT_UPCAST_FAILED: info('permanent', 'A step from an older schema version threw.'),
  MSG_CONTRACT_NO_ID: info('permanent', 'A message without envelope has no id of its own.'),
  MSG_ORDER_VERSION_MISSING: info(
    'permanent',
    'The ordering policy needs an aggregate version and the message has none.',
  ),
  MSG_STORE_SCHEMA: info('permanent', 'The tables of the store are missing or too old.'),
  MSG_STORE_COMMIT_REFUSED: info(
    'unknown',
    'COMMIT was answered with ROLLBACK: a statement before it had failed.',
  ),
  MSG_STORE_COMMIT_UNKNOWN: info('transient', 'The answer to COMMIT was lost.'),
  MSG_STORE_DUPLICATE_ID: info('permanent', 'The outbox holds a message with this id already.'),
  MSG_STORE_TX_ENDED: info('unknown', 'The transaction was used after it had ended.'),
  MSG_STORE_UNAVAILABLE: info('transient', 'The store could not be reached.'),
  MSG_PARK_UNREADABLE: info('permanent', 'A message of the parking lot has no readable record.'),
  MSG_SHUTDOWN_DEADLINE: info(undefined, 'Work was left behind when the deadline of close passed.'),
};
