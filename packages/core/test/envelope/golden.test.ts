import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { decodeEnvelope, encodeEnvelope } from '../../src/envelope/codec.ts';
import {
  HEADERS,
  readWireHeaders,
  type WireHeaders,
  writeWireHeaders,
} from '../../src/envelope/wire-headers.ts';
import {
  PARK_REASONS,
  type ParkedRecord,
  parkedHeaders,
  readParkedRecord,
} from '../../src/parking/parked-message.ts';
import { firstDedupId, parkDedupId, retryDedupId } from '../../src/settle/dedup-id.ts';

/** docs/reference/golden: public, for implementations in other languages. Never regenerated. */
interface Vector {
  readonly bodyHex: string;
  readonly body: { readonly id: string };
  readonly consumer: string;
  readonly dedupId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly meaning: WireHeaders;
  readonly record: ParkedRecord;
  readonly mirror: { readonly id: string; readonly occurredAtMs: number };
}

const DOCS = new URL('../../../../docs/reference/', import.meta.url);
const read = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`golden/${name}.json`, DOCS), 'utf8')) as T;
const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));

const first = read<Vector>('first-publish');
const retry = read<Vector>('retry-copy');
const parked = read<Vector>('parked-copy');
const minimal = read<Vector>('minimal');

it.each([
  ['first-publish', first],
  ['minimal', minimal],
])('%s: decodes the bytes and encodes the same ones', (_, vector) => {
  const body = bytes(vector.bodyHex);
  expect(JSON.parse(new TextDecoder().decode(body))).toEqual(vector.body);
  const envelope = decodeEnvelope(body);
  expect(envelope.id).toBe(vector.body.id);
  expect(Buffer.from(encodeEnvelope(envelope))).toEqual(Buffer.from(body));
  expect(firstDedupId(envelope.id)).toBe(vector.dedupId);
  expect(readWireHeaders(vector.headers)).toEqual(vector.meaning);
});

it('first-publish: holds every field under its meaning', () => {
  expect(decodeEnvelope(bytes(first.bodyHex))).toEqual({
    id: '019834d1-5e80-7c3a-9f10-5b6a7c8d9e0f',
    type: 'order.created',
    schemaVersion: 2,
    occurredAt: '2026-07-21T09:00:00Z',
    producer: 'orders',
    correlationId: '01K0REQUEST',
    causationId: '01K0COMMAND',
    aggregate: { type: 'order', id: '42', version: 7 },
    expiresAt: '2026-07-22T09:00:00Z',
    data: { sku: 'book-17', count: 1, note: 'Größe „M“ – 書 😀', quote: '"\\/\n' },
  });
  expect(first.mirror.occurredAtMs).toBe(Date.parse('2026-07-21T09:00:00Z'));
  expect(writeWireHeaders(first.meaning)).toEqual(first.headers);
});

it('retry-copy: same bytes, other headers and dedup id', () => {
  expect(retry.bodyHex).toBe(first.bodyHex);
  expect(writeWireHeaders(retry.meaning)).toEqual(retry.headers);
  expect(readWireHeaders(retry.headers)).toEqual(retry.meaning);
  const { cycle, attempt } = retry.meaning;
  expect(retryDedupId(retry.mirror.id, retry.consumer, cycle, attempt)).toBe(retry.dedupId);
});

it('parked-copy: same bytes, with the record in its headers', () => {
  expect(parked.bodyHex).toBe(first.bodyHex);
  const headers = { ...writeWireHeaders(parked.meaning), ...parkedHeaders(parked.record) };
  expect(headers).toEqual(parked.headers);
  expect(readWireHeaders(parked.headers)).toEqual(parked.meaning);
  const body = bytes(parked.bodyHex);
  const record = readParkedRecord({ body, headers: parked.headers, native: {} });
  expect(record).toEqual({ ...parked.record, body });
  const { messageId, consumer, cycle } = parked.record;
  expect(parkDedupId(messageId, consumer, cycle)).toBe(parked.dedupId);
});

interface Refused {
  readonly cases: readonly { about: string; bodyHex: string; code: string }[];
}
it.each(read<Refused>('refused').cases)('refused: $about', ({ bodyHex, code }) => {
  expect(() => decodeEnvelope(bytes(bodyHex))).toThrowError(expect.objectContaining({ code }));
});

it('documents every header and reason', () => {
  const page = readFileSync(new URL('wire-format.md', DOCS), 'utf8');
  const names = [...Object.values(HEADERS), ...Object.keys(parked.headers), ...PARK_REASONS];
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
