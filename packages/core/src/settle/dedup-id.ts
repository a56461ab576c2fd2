import { createHash } from 'node:crypto';

/*
 * Ids for the dedup window of the transport, which drops a repeated one with "ok" (JetStream 2
 * minutes, SQS FIFO 5): every copy needs another, and a repeated send of the same copy the same.
 * The cycle (redrives so far) is part of it, because a redriven message may fail and be parked
 * again within the window.
 */

export function firstDedupId(id: string): string {
  return id;
}

/** @param attempt - Number of the run that the copy is for. */
export function retryDedupId(id: string, consumer: string, cycle: number, attempt: number): string {
  return `${id}:${consumer}:c${cycle}a${attempt}`;
}

/** For a copy that was put off without a run. */
export function deferDedupId(
  id: string,
  consumer: string,
  cycle: number,
  attempt: number,
  deferral: number,
): string {
  return `${id}:${consumer}:c${cycle}a${attempt}d${deferral}`;
}

export function parkDedupId(id: string, consumer: string, cycle: number): string {
  return `${id}:${consumer}:c${cycle}p`;
}

/** @param cycle - Of the new budget. */
export function redriveDedupId(id: string, consumer: string, cycle: number): string {
  return `${id}:${consumer}:r${cycle}`;
}

/** The message with a dedup id that the broker takes: shortened the same way at every send of it. */
export function withDedupId<T extends { readonly dedupId: string }>(out: T, idChars: number): T {
  // No UTF-16 unit needs more than three bytes, so most ids are not measured.
  if (out.dedupId.length * 3 <= idChars) return out;
  const dedupId = shortenId(out.dedupId, idChars);
  return dedupId === out.dedupId ? out : { ...out, dedupId };
}

const HASH_CHARS = 32;

/**
 * The id itself when it has at most `maxChars` UTF-8 bytes (the stricter reading of a limit), else
 * its beginning and a hash of the whole: equal for equal ids, different for different ones.
 */
export function shortenId(id: string, maxChars: number): string {
  if (Buffer.byteLength(id) <= maxChars) return id;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, HASH_CHARS);
  const room = maxChars - HASH_CHARS - 1;
  if (room <= 0) return hash.slice(0, maxChars);
  const head = id.slice(0, room);
  return Buffer.byteLength(head) === room ? `${head}~${hash}` : hash;
}
