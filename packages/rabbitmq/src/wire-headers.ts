import { headerText, type Outgoing, type RawHeaders } from '@ackord/core/driver';
import type { Options } from 'amqplib';
import type { AmqpHeaders } from './client.ts';

/** Matches a `basic.return`, which has no tag of its own, with its publish. */
export const PUBLISH_TAG = 'x-ackord-publish-tag';

/**
 * Headers that RabbitMQ writes or acts on: never sent on. CC and BCC would route copies elsewhere,
 * and as text they close the channel (406); the others would fake a history.
 */
const BROKER_OWNED =
  /^(?:cc|bcc|x-death|x-(?:first|last)-death-.*|x-delivery-count|x-acquired-count|x-opt-.*|x-ackord-publish-tag)$/i;

export function toProperties({ mirror, headers }: Outgoing, tag: number): Options.Publish {
  const sent: Record<string, string | number> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !isBrokerOwned(name)) sent[name] = value;
  }
  sent[PUBLISH_TAG] = tag;
  const properties: Options.Publish = {
    persistent: true,
    mandatory: true,
    contentType: mirror.contentType,
    messageId: mirror.id,
    type: mirror.type,
    headers: sent,
  };
  const { correlationId, occurredAtMs: at } = mirror;
  if (correlationId !== undefined) properties.correlationId = correlationId;
  // Whole seconds, unsigned; a time before 1970 has no form here and stays in the envelope only.
  if (at !== undefined && at >= 0) properties.timestamp = Math.floor(at / 1000);
  return properties;
}

/** Every header as text. Never throws, whatever a publisher wrote. */
export function fromHeaders(headers: AmqpHeaders): RawHeaders {
  const read: Record<string, string> = {};
  for (const name in headers) {
    if (name !== PUBLISH_TAG) read[name] = headerText(headers[name]);
  }
  return read;
}

/** 1 on the first delivery; a count that is not a whole number is ignored. */
export function deliveryCount(headers: AmqpHeaders): number {
  const count = headers?.['x-delivery-count'];
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count + 1 : 1;
}

/** Tag of a returned publish; undefined for a foreign message. */
export function publishTag(headers: AmqpHeaders): number | undefined {
  const tag = headers?.[PUBLISH_TAG];
  return typeof tag === 'number' ? tag : undefined;
}

/** Bit that tells a lower-case letter of ASCII from its capital. */
const LOWER_CASE = 0x20;
const FIRST_LETTERS: ReadonlySet<number> = new Set([...'xcb'].map((c) => c.charCodeAt(0)));

// The first letter sorts out nearly every name before the pattern runs.
const isBrokerOwned = (name: string): boolean =>
  FIRST_LETTERS.has(name.charCodeAt(0) | LOWER_CASE) && BROKER_OWNED.test(name);
