import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeEnvelope, encodeEnvelope, envelopeCodec } from '../../src/envelope/codec.ts';
import type { Envelope } from '../../src/envelope/envelope.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (body: Uint8Array): string => new TextDecoder().decode(body);

const envelope: Envelope = {
  id: 'm1',
  type: 'order.created',
  schemaVersion: 2,
  occurredAt: '2026-07-21T09:00:00Z',
  producer: 'orders',
  correlationId: 'r1',
  causationId: 'c1',
  aggregate: { type: 'order', id: '42', version: 7 },
  expiresAt: '2026-07-22T09:00:00Z',
  data: { sku: 'book-17', count: 1 },
};

it('writes snake_case in the fixed order, without whitespace', () => {
  expect(text(encodeEnvelope(envelope))).toBe(
    '{"id":"m1","type":"order.created","schema_version":2,' +
      '"occurred_at":"2026-07-21T09:00:00Z","producer":"orders",' +
      '"correlation_id":"r1","causation_id":"c1",' +
      '"aggregate":{"type":"order","id":"42","version":7},' +
      '"expires_at":"2026-07-22T09:00:00Z","data":{"sku":"book-17","count":1}}',
  );
});

it('leaves absent fields out', () => {
  const { id, type, schemaVersion, occurredAt, producer } = envelope;
  const body = encodeEnvelope({ id, type, schemaVersion, occurredAt, producer, data: null });
  expect(Object.keys(JSON.parse(text(body)))).toEqual([
    'id',
    'type',
    'schema_version',
    'occurred_at',
    'producer',
    'data',
  ]);
  expect(decodeEnvelope(body)).toEqual({
    id,
    type,
    schemaVersion,
    occurredAt,
    producer,
    data: null,
  });
});

const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .filter((value) => !/\p{Cc}/u.test(value) && value.length <= 255);
const instant = fc
  .date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });
const envelopes: fc.Arbitrary<Envelope> = fc
  .record({
    id: name,
    type: name,
    schemaVersion: fc.integer({ min: 1, max: 1_000 }),
    occurredAt: instant,
    producer: name,
    correlationId: optional(name),
    causationId: optional(name),
    aggregate: optional(
      fc.record({ type: name, id: name, version: fc.nat() }, { requiredKeys: ['type', 'id'] }),
    ),
    expiresAt: optional(instant),
    data: fc.jsonValue(),
  })
  .map((fields) => JSON.parse(JSON.stringify(fields)) as Envelope);

it('gives back what was encoded, and the same bytes again', () => {
  fc.assert(
    fc.property(envelopes, (given) => {
      const body = encodeEnvelope(given);
      const decoded = decodeEnvelope(body);
      expect(decoded).toEqual(given);
      expect(encodeEnvelope(decoded)).toEqual(body);
    }),
  );
});

it('lets unknown fields and null for optional ones pass', () => {
  const wire = { ...JSON.parse(text(encodeEnvelope(envelope))), extra: { a: 1 } };
  expect(decodeEnvelope(bytes(JSON.stringify(wire)))).toEqual(envelope);
  const nulls = {
    ...wire,
    correlation_id: null,
    causation_id: null,
    aggregate: null,
    expires_at: null,
  };
  const { id, type, schemaVersion, occurredAt, producer, data } = envelope;
  const plain = { id, type, schemaVersion, occurredAt, producer, data };
  expect(decodeEnvelope(bytes(JSON.stringify(nulls)))).toEqual(plain);
});

it.each([
  ['nothing', bytes('')],
  ['no JSON', bytes('{not-json}')],
  ['a cut body', encodeEnvelope(envelope).slice(0, 40)],
  ['no UTF-8', Uint8Array.of(0xff, 0xfe)],
  ['broken UTF-8 inside a text', Uint8Array.of(0x22, 0xc3, 0x28, 0x22)],
])('refuses %s as invalid JSON', (_, body) => {
  expect(() => decodeEnvelope(body)).toThrowError(
    expect.objectContaining({ code: 'MSG_CONTRACT_INVALID_JSON', failure: 'permanent' }),
  );
});

it('says where a body is no JSON, and quotes none of it', () => {
  const secret = bytes('{"card":"4111-1111" x}');
  expect(() => decodeEnvelope(secret)).toThrowError(/breaks at position/);
  for (const body of [secret, bytes('["4111-1111",]'), bytes('{"card":"4111-1111')]) {
    expect(() => decodeEnvelope(body)).toThrowError(
      expect.objectContaining({ message: expect.not.stringContaining('4111') }),
    );
  }
});

const without = Symbol('without');
it.each([
  ['id', without, 'nothing'],
  ['id', '', '""'],
  ['id', 7, '7'],
  ['id', 'a\0b', 'no control characters'],
  ['id', 'a\r\nb', 'no control characters'],
  ['id', 'a\ud800', 'no control characters'],
  ['id', 'x'.repeat(513), '1 to 512'],
  ['type', null, 'null'],
  ['type', 'x'.repeat(256), '1 to 255'],
  ['schema_version', '2', '"2"'],
  ['schema_version', 0, 'an integer >= 1'],
  ['schema_version', 1.5, '1.5'],
  ['occurred_at', without, 'nothing'],
  ['occurred_at', '2026-07-21', 'ISO 8601'],
  ['occurred_at', '2026-07-21T09:00:00', 'Z or an offset'],
  ['occurred_at', '2026-13-41T09:00:00Z', 'ISO 8601'],
  ['occurred_at', 1_784_624_400_000, 'ISO 8601'],
  ['producer', {}, '{}'],
  ['correlation_id', 7, '7'],
  ['causation_id', '', '""'],
  ['aggregate', 'order-42', 'an object'],
  ['aggregate.type', { id: '42' }, 'nothing'],
  ['aggregate.id', { type: 'order', id: 42 }, '42'],
  ['aggregate.version', { type: 'order', id: '42', version: -1 }, '-1'],
  ['expires_at', 'tomorrow', '"tomorrow"'],
  ['data', without, 'nothing'],
])('names the wrong field: %s', (field, value, shown) => {
  const wire = JSON.parse(text(encodeEnvelope(envelope))) as Record<string, unknown>;
  const key = field.split('.')[0] as string;
  if (value === without) delete wire[key];
  else wire[key] = value;
  expect(() => decodeEnvelope(bytes(JSON.stringify(wire)))).toThrowError(
    expect.objectContaining({
      code: 'MSG_CONTRACT_INVALID_ENVELOPE',
      message: expect.stringMatching(
        new RegExp(`^Envelope field ${field.replace('.', '\\.')} is `),
      ),
      details: expect.objectContaining({ field }),
    }),
  );
  expect(() => decodeEnvelope(bytes(JSON.stringify(wire)))).toThrow(shown);
});

it.each(['null', '[]', '"x"', '7', 'true'])('refuses the JSON body %s', (body) => {
  expect(() => decodeEnvelope(bytes(body))).toThrow('Envelope field (body)');
});

it.each([
  '2026-07-21T09:00:00.123456789Z',
  '2026-07-21T11:00:00+02:00',
  '2026-07-21t09:00:00z',
  '2026-07-21T09:00Z',
])('takes the instant %s and keeps its text', (occurredAt) => {
  expect(decodeEnvelope(encodeEnvelope({ ...envelope, occurredAt })).occurredAt).toBe(occurredAt);
});

it('throws for nothing but its two codes, whatever the bytes', () => {
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.json().map(bytes),
    envelopes.map((given) => encodeEnvelope(given).slice(0, -1)),
  );
  fc.assert(
    fc.property(bodies, (body) => {
      try {
        decodeEnvelope(body);
      } catch (error) {
        expect((error as { code?: string }).code).toMatch(/^MSG_CONTRACT_INVALID_(JSON|ENVELOPE)$/);
      }
    }),
  );
});

const ring: { self?: unknown } = {};
ring.self = ring;
it.each([
  ['undefined', undefined],
  ['a function', () => 1],
  ['a value whose toJSON gives nothing', { toJSON: () => undefined }],
  ['a BigInt', { a: 1n }],
  ['a ring', ring],
])('refuses to encode %s as data', (_, data) => {
  expect(() => encodeEnvelope({ ...envelope, data })).toThrowError(
    expect.objectContaining({ code: 'MSG_CONTRACT_INVALID_DATA' }),
  );
});

it('is the default codec, for JSON', () => {
  expect([envelopeCodec.name, envelopeCodec.contentType]).toEqual(['envelope', 'application/json']);
  const body = envelopeCodec.encode(envelope);
  expect(envelopeCodec.decode({ body, headers: {}, native: {} })).toEqual(envelope);
});
