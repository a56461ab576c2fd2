import { expect, it } from 'vitest';
import { classifyError, missingExchange } from '../src/classify-error.ts';

const error = (code: number | string | undefined, message: string, cause?: unknown): Error =>
  Object.assign(new Error(message, { cause }), code === undefined ? {} : { code });

it.each([
  ['auth', 403, "ACCESS_REFUSED - write access to exchange 'orders' in vhost '/' refused"],
  ['missing', 404, "NOT_FOUND - no queue 'reserve' in vhost '/'"],
  ['refused', 405, "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'reserve'"],
  ['too-large', 406, 'PRECONDITION_FAILED - message size 17 is larger than configured max size 16'],
  [
    'cancelled',
    406,
    'PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: 5 ms',
  ],
  ['invalid', 406, 'PRECONDITION_FAILED - unknown delivery tag 1'],
  ['invalid', 406, "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q'"],
  ['too-large', 311, 'CONTENT_TOO_LARGE'],
  [
    'connection',
    320,
    "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'",
  ],
  ['missing', 402, 'INVALID_PATH'],
  ['throttled', 506, 'RESOURCE_ERROR - out of memory'],
  ['throttled', 530, "NOT_ALLOWED - connection limit (1) is reached for vhost '/'"],
  ['auth', 530, "NOT_ALLOWED - access to vhost '/' refused for user 'guest'"],
  ['invalid', 540, 'NOT_IMPLEMENTED'],
  ['connection', 501, 'FRAME_ERROR'],
  ['connection', 504, 'CHANNEL_ERROR'],
  ['connection', 541, 'INTERNAL_ERROR'],
  [
    'auth',
    undefined,
    'Handshake terminated by server: 403 (ACCESS-REFUSED) with message "ACCESS_REFUSED - Login was refused"',
  ],
  ['auth', undefined, 'Expected ConnectionOpenOk; got <ConnectionClose channel:0>'],
  ['auth', undefined, 'SASL mechanism EXTERNAL is not provided by the server'],
  ['auth', 'CERT_HAS_EXPIRED', 'certificate has expired'],
  ['auth', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'],
  ['auth', 'ERR_TLS_CERT_ALTNAME_INVALID', "Hostname/IP does not match certificate's altnames"],
  ['connection', 'ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5672'],
  ['connection', 'ECONNRESET', 'read ECONNRESET'],
  ['connection', 'ENOTFOUND', 'getaddrinfo ENOTFOUND rabbit.invalid'],
  ['connection', 'EAI_AGAIN', 'getaddrinfo EAI_AGAIN rabbit'],
  ['connection', 'ERR_STREAM_DESTROYED', 'Cannot call write after a stream was destroyed'],
  ['connection', undefined, 'connect ETIMEDOUT'],
  ['connection', undefined, 'Heartbeat timeout'],
  ['connection', undefined, 'Socket closed abruptly during opening handshake'],
  ['connection', undefined, 'Unexpected close'],
  ['connection', undefined, 'Connection closed (by client)'],
  ['connection', undefined, 'Channel ended, no reply will be forthcoming'],
  ['connection', undefined, 'channel closed'],
  ['unknown', 'ERR_INVALID_ARG_TYPE', 'The "key" argument must be of type string'],
  ['unknown', undefined, 'something else'],
] as const)('%s: %s %s', (kind, code, message) => {
  expect(classifyError(error(code, message))).toBe(kind);
});

it('looks at the cause of an error that says nothing itself', () => {
  const cause = error('ECONNREFUSED', 'connect ECONNREFUSED');
  expect(classifyError(error(undefined, 'No RabbitMQ node could be reached', cause))).toBe(
    'connection',
  );
});

it.each([undefined, null, 'text', 404, { code: 404 }])('knows nothing of %s', (thrown) => {
  expect(classifyError(thrown)).toBe('unknown');
});

it.each([
  [
    "Channel closed by server: 404 (NOT-FOUND) with message \"NOT_FOUND - no exchange 'a.b' in vhost '/'\"",
    'a.b',
  ],
  ["NOT_FOUND - no queue 'a.b' in vhost '/'", undefined],
])('finds the exchange in %s', (message, exchange) => {
  expect(missingExchange(new Error(message))).toBe(exchange);
});
