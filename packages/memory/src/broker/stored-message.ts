import type { Native, Outgoing, RawHeaders } from '@ackord/core/driver';

/** A message as a raw client would write or read it. */
export interface RawMessage {
  readonly body: Uint8Array;
  readonly headers: RawHeaders;
  readonly key?: string;
  readonly nativeId?: string;
  readonly type?: string;
}

/** A message as the broker keeps it. Bodies and headers are copied on the way in and out. */
export interface StoredMessage extends RawMessage {
  /** Where it was sent to first. */
  readonly subject: string;
  readonly storedAtMs: number;
}

export function storedFrom(message: Outgoing, nowMs: number): StoredMessage {
  return {
    body: new Uint8Array(message.body),
    headers: { ...message.headers },
    ...(message.key === undefined ? {} : { key: message.key }),
    nativeId: message.mirror.id,
    type: message.mirror.type,
    subject: message.to,
    storedAtMs: nowMs,
  };
}

export function storedFromRaw(to: string, raw: Partial<RawMessage>, nowMs: number): StoredMessage {
  return {
    ...raw,
    body: new Uint8Array(raw.body ?? []),
    headers: { ...raw.headers },
    subject: to,
    storedAtMs: nowMs,
  };
}

export function rawOf(message: StoredMessage): RawMessage {
  const { body, headers, subject: _subject, storedAtMs: _at, ...rest } = message;
  return { ...rest, body: new Uint8Array(body), headers: { ...headers } };
}

export function nativeOf(message: StoredMessage): Native {
  return {
    ...(message.nativeId === undefined ? {} : { id: message.nativeId }),
    ...(message.type === undefined ? {} : { type: message.type }),
    subject: message.subject,
  };
}
