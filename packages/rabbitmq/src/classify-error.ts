import { classifyBy, type FaultKind, type FaultRow } from '@ackord/core/driver';

/** By reply code of AMQP or `code` of Node, and text. */
const ROWS: readonly FaultRow[] = [
  [403, undefined, 'auth'],
  [404, undefined, 'missing'],
  [405, undefined, 'refused'],
  [406, /message size/, 'too-large'],
  // The server stops waiting for an ack and, before 4.3, closed the channel.
  [406, /delivery acknowledgement .* timed out/, 'cancelled'],
  [406, undefined, 'invalid'],
  [311, undefined, 'too-large'],
  [320, undefined, 'connection'],
  [402, undefined, 'missing'],
  [506, undefined, 'throttled'],
  [530, /limit/, 'throttled'],
  [530, undefined, 'auth'],
  [540, undefined, 'invalid'],
  [/^5\d\d$/, undefined, 'connection'],
  // amqplib hides the reply: a vhost that does not exist or may not be used. Neither heals by retrying.
  [undefined, /Expected ConnectionOpenOk; got <ConnectionClose/, 'auth'],
  [undefined, /SASL mechanism .* is not provided/, 'auth'],
  [/^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/, undefined, 'auth'],
  [/^(?:E(?!RR_)[A-Z0-9_]+|ERR_(?:SOCKET|SSL|STREAM)_.*)$/, undefined, 'connection'],
  [
    undefined,
    /ETIMEDOUT|Heartbeat timeout|Socket closed|Unexpected close|Connection clos|Channel clos|Channel ended/i,
    'connection',
  ],
];

/** Refusals during the handshake carry the reply code in their text only. */
const HANDSHAKE_CODE = /Handshake terminated by server: (\d{3})/;

/** The kind of a raw client error. Looks at `cause` when the error itself says nothing. */
export const classifyError = (error: unknown): FaultKind => classifyBy(ROWS, error, HANDSHAKE_CODE);

/** Exchange that a 404 of a publish names. */
export function missingExchange(error: unknown): string | undefined {
  const text = error instanceof Error ? error.message : '';
  return /no exchange '(.*)' in vhost/s.exec(text)?.[1];
}
