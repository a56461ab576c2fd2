import type { Capabilities, Delay, Outgoing } from '@ackord/core/driver';

/** Limits of the in-memory broker. Nothing in memory asks for them: they are there to be tested. */
export interface MemoryLimits {
  /** Body and headers of one message. Default 16 MiB. */
  readonly bodyBytes?: number;
  /** Default 100. */
  readonly batchItems?: number;
  /** Default 16 MiB. */
  readonly batchBytes?: number;
  /** Characters of a dedup id. Default 255. */
  readonly idChars?: number;
  /** Default 1000. */
  readonly headerCount?: number;
  /** Default 64 KiB. */
  readonly headerBytes?: number;
  /** How long a repeated dedup id is answered "confirmed, duplicate" and dropped. Default 0: never. */
  readonly dedupWindowMs?: number;
}

const defaults: Required<MemoryLimits> = Object.freeze({
  bodyBytes: 16 * 1024 * 1024,
  batchItems: 100,
  batchBytes: 16 * 1024 * 1024,
  idChars: 255,
  headerCount: 1_000,
  headerBytes: 64 * 1024,
  dedupWindowMs: 0,
});

export interface ProfileTraits {
  readonly delays: readonly Delay[];
  readonly nativeCount: Capabilities['nativeCount'];
  readonly lanes: Capabilities['lanes'];
}

export function capabilitiesOf(traits: ProfileTraits, limits: MemoryLimits = {}): Capabilities {
  const of = { ...defaults, ...limits };
  return {
    ...traits,
    fanOut: 'broker',
    dedupWindowMs: of.dedupWindowMs,
    idChars: of.idChars,
    headers: { count: of.headerCount, bytes: of.headerBytes },
    bodyBytes: of.bodyBytes,
    batch: { items: of.batchItems, bytes: of.batchBytes, oneAddress: false },
    text: 'any',
    sizeOf,
  };
}

function sizeOf(message: Outgoing): number {
  let bytes = message.body.byteLength;
  for (const name in message.headers) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(message.headers[name] ?? '');
  }
  return bytes;
}
