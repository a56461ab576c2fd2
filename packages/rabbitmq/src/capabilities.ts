import type { Capabilities } from '@ackord/core/driver';

/**
 * Longest and shortest queue-level TTL used for a bucket. A quorum queue takes more than 2^32 - 1
 * (4.3.6 accepted ten years); the documents promise only 32 bits, which is 49 days.
 */
export const BUCKET: { readonly minMs: number; readonly maxMs: number } = Object.freeze({
  minMs: 1,
  maxMs: 4_294_967_295,
});

/** Message id, type, correlation id, content type, routing key: short strings of AMQP 0-9-1. */
export const ID_BYTES = 255;

/**
 * amqplib encodes the header table into 64 KiB. Each entry costs 6 bytes beside its name and text
 * (name length, type, text length); 1 000 of them and the publish tag fit into what is left.
 */
const HEADERS: { readonly count: number; readonly bytes: number } = Object.freeze({
  count: 1_000,
  bytes: 58_000,
});

export const PROFILE = 'rabbitmq/ttl-buckets';

export function ttlBuckets(maxMessageBytes: number): Capabilities {
  return Object.freeze<Capabilities>({
    delays: [{ by: 'bucket', ...BUCKET }],
    // x-delivery-count rises with a lost channel and basic.reject; nack, used to release, leaves it (4.3.6).
    nativeCount: 'failures',
    // A queue has several competing consumers; nothing keeps messages of one key together.
    lanes: 'none',
    fanOut: 'broker',
    dedupWindowMs: 0,
    idChars: ID_BYTES,
    headers: HEADERS,
    // max_message_size, 16 MiB by default since 4.0; it counts the body only: 16 MiB and 30 kB of
    // headers pass, one more byte of body closes the channel (4.3.6).
    bodyBytes: maxMessageBytes,
    // No limit of the broker: bounds what one channel closure makes unknown, and the memory in flight.
    batch: { items: 500, bytes: 4 * 1024 * 1024, oneAddress: false },
    text: 'any',
    sizeOf: (message) => message.body.byteLength,
  });
}
