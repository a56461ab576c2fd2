import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fromHeaderText, toHeaderText } from '../../src/envelope/header-text.ts';
import {
  cutText,
  HEADERS,
  isWireHeader,
  readWireHeaders,
  type WireHeaders,
  writeWireHeaders,
} from '../../src/envelope/wire-headers.ts';

const DEFAULTS: WireHeaders = { attempt: 1, unknowns: 0, cycle: 0, deferrals: 0 };
const FULL: WireHeaders = {
  attempt: 3,
  unknowns: 1,
  cycle: 2,
  deferrals: 4,
  dueAtMs: 1_784_624_400_000,
  firstPublishedAtMs: 1_784_624_390_000,
  retryFrom: 'orders.created',
  lastError: 'boom',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  tracestate: 'vendor=1',
};

it('writes each field under its own name, as decimal text', () => {
  expect(writeWireHeaders(FULL)).toEqual({
    'ackord-v': '1',
    'ackord-attempt': '3',
    'ackord-unknowns': '1',
    'ackord-cycle': '2',
    'ackord-deferrals': '4',
    'ackord-due': '1784624400000',
    'ackord-first-published': '1784624390000',
    'ackord-retry-from': 'orders.created',
    'ackord-error': 'boom',
    traceparent: FULL.traceparent,
    tracestate: 'vendor=1',
  });
});

it('leaves defaults out, and reads their absence as defaults', () => {
  expect(writeWireHeaders(DEFAULTS)).toEqual({ 'ackord-v': '1' });
  expect(readWireHeaders({})).toEqual(DEFAULTS);
});

const count = (min: number): fc.Arbitrary<number> => fc.integer({ min, max: 10_000 });
const instant = fc.integer({ min: 0, max: 253_402_300_799_999 });
const text = (maxLength: number): fc.Arbitrary<string> =>
  fc
    .string({ unit: 'binary', minLength: 1, maxLength })
    .map((value) => value.toWellFormed())
    .filter((value) => value.length <= maxLength);

it('gives back what was written', () => {
  const headers = fc.record(
    {
      attempt: count(1),
      unknowns: count(0),
      cycle: count(0),
      deferrals: count(0),
      dueAtMs: instant,
      firstPublishedAtMs: instant,
      retryFrom: text(255),
      lastError: text(512),
      traceparent: fc.constant(FULL.traceparent as string),
      tracestate: fc.string({ minLength: 1, maxLength: 200 }),
    },
    { requiredKeys: ['attempt', 'unknowns', 'cycle', 'deferrals'] },
  );
  fc.assert(
    fc.property(headers, (given) => {
      const raw = writeWireHeaders(given);
      expect(readWireHeaders(raw)).toEqual(given);
    }),
  );
});

it.each([
  '',
  ' ',
  '0x2',
  '-1',
  '+2',
  '1.5',
  '1e3',
  ' 2',
  '2 ',
  'NaN',
  'Infinity',
  '10001',
  '99999999999999999999',
  '٣',
  null,
  undefined,
  3,
  {},
  ['3'],
])('ignores the count %s', (value) => {
  const raw = Object.fromEntries(
    [HEADERS.attempt, HEADERS.unknowns, HEADERS.cycle, HEADERS.deferrals].map((n) => [n, value]),
  ) as Record<string, string>;
  expect(readWireHeaders(raw)).toEqual(DEFAULTS);
});

it('takes attempt 0 for the first, and ignores a due time past the year 9999', () => {
  expect(readWireHeaders({ 'ackord-attempt': '0', 'ackord-due': '253402300800000' })).toEqual(
    DEFAULTS,
  );
});

it('ignores texts that are too long or whose escapes are broken', () => {
  const raw = {
    'ackord-error': 'x'.repeat(513),
    'ackord-retry-from': '%zz',
    traceparent: 'x'.repeat(129),
    tracestate: 'x'.repeat(1_025),
  };
  expect(readWireHeaders(raw)).toEqual(DEFAULTS);
});

it('never throws and stays in bounds, whatever the headers', () => {
  const values = fc.oneof(fc.string({ unit: 'binary' }), fc.nat().map(String), fc.anything());
  const names = fc.oneof(fc.constantFrom(...Object.values(HEADERS)), fc.string());
  fc.assert(
    fc.property(fc.dictionary(names, values), (raw) => {
      const read = readWireHeaders(raw as Record<string, string>);
      for (const n of [read.unknowns, read.cycle, read.deferrals, read.attempt - 1]) {
        expect(Number.isInteger(n) && n >= 0 && n <= 10_000).toBe(true);
      }
      expect((read.lastError ?? '').length).toBeLessThanOrEqual(512);
    }),
  );
});

it('rounds a due time up and cuts what is out of bounds when writing', () => {
  const raw = writeWireHeaders({ ...DEFAULTS, attempt: 1e9, dueAtMs: 5.1, firstPublishedAtMs: -1 });
  expect(raw).toEqual({ 'ackord-v': '1', 'ackord-attempt': '10000', 'ackord-due': '6' });
});

it('cuts an error text of 1 MiB at 512 characters, never inside a code point', () => {
  const lastError = `${'x'.repeat(511)}😀${'y'.repeat(1_048_576)}`;
  const read = readWireHeaders(writeWireHeaders({ ...DEFAULTS, lastError }));
  expect(read.lastError).toBe('x'.repeat(511));
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat({ max: 20 }), (value, max) => {
      const cut = cutText(value, max);
      expect(cut.length).toBeLessThanOrEqual(max);
      expect(cut.length).toBeGreaterThanOrEqual(Math.min(value.length, max - 1));
      expect(value.startsWith(cut)).toBe(true);
      expect(cut.isWellFormed()).toBe(true);
    }),
  );
});

it('knows its own headers', () => {
  const names = ['ackord-v', 'ackord-park-id', 'traceparent', 'tracestate', 'x-death', 'Ackord'];
  expect(names.map(isWireHeader)).toEqual([true, true, true, true, false, false]);
});

it('turns any text into a value that every transport carries, and back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      const header = toHeaderText(value);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
      expect(header).not.toMatch(/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]|^\s|\s$/);
      expect(header.isWellFormed()).toBe(true);
      expect(fromHeaderText(header)).toBe(value.toWellFormed());
    }),
  );
  expect(toHeaderText('half \ud83d pair')).toBe('half \ufffd pair');
  expect(toHeaderText('50 % – naïve\r\n')).toBe('50 %25 – naïve%0D%0A');
});
