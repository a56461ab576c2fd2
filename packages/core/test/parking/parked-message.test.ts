import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  fingerprintOf,
  PARK_REASONS,
  type ParkedRecord,
  parkedHeaders,
  readParkedRecord,
} from '../../src/parking/parked-message.ts';

const body = Uint8Array.of(0xff, 0x00, 0x7b);
const record: ParkedRecord = {
  messageId: 'm1',
  reason: 'attempts',
  attempts: 4,
  totalAttempts: 9,
  lastFailedAtMs: 1_784_624_400_000,
  fingerprint: '0123456789abcdef',
  consumer: 'inventory.reserve',
  cycle: 1,
  parkedAtMs: 1_784_624_400_001,
};

const text = (maxLength: number): fc.Arbitrary<string> =>
  fc
    .string({ unit: 'binary', minLength: 1, maxLength })
    .map((value) => value.toWellFormed())
    .filter((value) => value.length <= maxLength);
const instant = fc.integer({ min: 0, max: 253_402_300_799_999 });
const records: fc.Arbitrary<ParkedRecord> = fc.record(
  {
    messageId: text(512),
    type: text(255),
    schemaVersion: fc.nat(),
    reason: fc.constantFrom(...PARK_REASONS),
    failure: fc.constantFrom('transient', 'permanent', 'unknown'),
    attempts: fc.nat({ max: 10_000 }),
    totalAttempts: fc.nat({ max: 1_000_000 }),
    firstFailedAtMs: instant,
    lastFailedAtMs: instant,
    errorType: text(128),
    errorCode: text(128),
    errorText: text(512),
    fingerprint: text(64),
    correlationId: text(512),
    traceparent: text(128),
    destination: text(255),
    routingKey: text(255),
    producer: text(255),
    consumer: text(255),
    cycle: fc.nat({ max: 10_000 }),
    nativeReason: text(512),
    parkedAtMs: instant,
  },
  {
    requiredKeys: [
      'messageId',
      'reason',
      'attempts',
      'totalAttempts',
      'lastFailedAtMs',
      'fingerprint',
      'consumer',
      'cycle',
      'parkedAtMs',
    ],
  },
) as fc.Arbitrary<ParkedRecord>;

it('gives back exactly the record and the bytes that were parked', () => {
  fc.assert(
    fc.property(records, fc.uint8Array(), (given, bytes) => {
      const headers = parkedHeaders(given);
      expect(Object.keys(headers).filter((name) => !name.startsWith('ackord-park-'))).toEqual([]);
      const read = readParkedRecord({ body: bytes, headers, native: {} });
      expect(read).toEqual({ ...given, body: bytes });
      expect(read.body).toBe(bytes);
    }),
  );
});

it('cuts texts at their limit instead of failing to park', () => {
  const errorText = `${'é'.repeat(511)}😀${'x'.repeat(1_048_576)}`;
  const headers = parkedHeaders({ ...record, errorText, nativeReason: errorText });
  const read = readParkedRecord({ body, headers, native: {} });
  expect([read.errorText, read.nativeReason]).toEqual(['é'.repeat(511), 'é'.repeat(511)]);
  expect(JSON.stringify(headers).length).toBeLessThan(2_000);
});

it.each([
  ['id', undefined],
  ['id', '%'],
  ['reason', undefined],
  ['reason', 'mood'],
  ['attempts', '-1'],
  ['total-attempts', 'x'],
  ['last-failed', '253402300800000'],
  ['fingerprint', undefined],
  ['consumer', ''],
  ['cycle', '1.0'],
  ['at', undefined],
])('refuses a record whose header %s is %s', (name, value) => {
  const headers = { ...parkedHeaders(record), [`ackord-park-${name}`]: value } as never;
  expect(() => readParkedRecord({ body, headers, native: { id: 'n1' } })).toThrowError(
    expect.objectContaining({
      code: 'MSG_PARK_UNREADABLE',
      message: expect.stringContaining(`ackord-park-${name} `),
      details: expect.objectContaining({ id: 'n1' }),
    }),
  );
});

it('takes optional fields that are garbage for absent', () => {
  const headers = {
    ...parkedHeaders(record),
    'ackord-park-failure': 'bad mood',
    'ackord-park-schema-version': 'two',
    'ackord-park-error': '%e9',
  };
  expect(readParkedRecord({ body, headers, native: {} })).toEqual({ ...record, body });
});

const text1 = 'order 42 (01890a5d-ac96-774b-bcce-b302099a8057) not found in ns4f8d21';
it('has the same fingerprint for texts that differ in numbers and ids only', () => {
  const of = (errorText: string): string =>
    fingerprintOf({ reason: 'unknown', errorType: 'Error', errorText });
  expect(of(text1)).toMatch(/^[0-9a-f]{16}$/);
  expect(of('order 7 (01890a5d-ac96-774b-bcce-b302099a9999)  not found in ns4f8d99')).toBe(
    of(text1),
  );
  expect(of('customer 42 not found')).not.toBe(of(text1));
});

it('has another fingerprint for another reason or error type, and a stable one', () => {
  const base = { reason: 'unknown', errorType: 'Error', errorText: 'x' };
  const prints = [
    fingerprintOf(base),
    fingerprintOf({ ...base, reason: 'attempts' }),
    fingerprintOf({ ...base, errorType: 'TypeError' }),
    fingerprintOf({ reason: 'unknown' }),
  ];
  expect(new Set(prints).size).toBe(4);
  expect(prints[0]).toBe('860717273fe894cb');
});
