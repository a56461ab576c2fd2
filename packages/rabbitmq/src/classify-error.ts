import type { FaultKind } from '@ackord/core/driver';

/** Reply code of AMQP, or `code` of Node; undefined matches any. The first row that fits decides. */
type Row = readonly [code: number | RegExp | undefined, text: RegExp | undefined, kind: FaultKind];

const ROWS: readonly Row[] = [
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

/** The kind of a raw client error. Looks at `cause` when the error itself says nothing. */
export function classifyError(error: unknown): FaultKind {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const kind = kindOf(at);
    if (kind !== undefined) return kind;
  }
  return 'unknown';
}

/** Exchange that a 404 of a publish names. */
export function missingExchange(error: unknown): string | undefined {
  const text = error instanceof Error ? error.message : '';
  return /no exchange '(.*)' in vhost/s.exec(text)?.[1];
}

function kindOf(error: Error): FaultKind | undefined {
  const code = codeOf(error);
  const fits = ([wanted, text]: Row): boolean =>
    (wanted === undefined ||
      (wanted instanceof RegExp ? wanted.test(code) : `${wanted}` === code)) &&
    (text === undefined || text.test(error.message));
  return ROWS.find(fits)?.[2];
}

/** Refusals during the handshake carry the reply code in their text only. */
function codeOf(error: Error): string {
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'number' || typeof code === 'string') return String(code);
  return /Handshake terminated by server: (\d{3})/.exec(error.message)?.[1] ?? '';
}
