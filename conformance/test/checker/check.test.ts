import { expect, it } from 'vitest';
import { check, type Evidence } from '../../src/checker/check.ts';
import type { SeenEvent } from '../../src/history/entry.ts';
import { History } from '../../src/history/history.ts';

const AT = { id: 'm1', consumer: 'reserve', attempt: 1 } as const;
const BODY = new TextEncoder().encode('{"id":"m1"}');
const EFFECT = {
  seq: 1,
  consumer: 'reserve',
  messageId: 'm1',
  attempt: 1,
  sku: 'book',
  count: 1,
  aggregateId: '42',
  aggregateVersion: 7,
} as const;

/** One message that was confirmed, applied and acked. */
function evidence(record: (history: History) => void, more: Partial<Evidence> = {}): Evidence {
  const history = new History();
  history.add({ what: 'sent', who: 'publisher', id: 'm1', body: BODY, atMs: 1_000 });
  history.add({
    what: 'outcome',
    who: 'publisher',
    id: 'm1',
    outcome: 'confirmed',
    tookMs: 1,
    atMs: 1_001,
  });
  record(history);
  return {
    history,
    limits: { deliveriesPerSecond: 5, connectsPerSecond: 5, extraRuns: 0, skip: {} },
    consumers: [
      {
        name: 'reserve',
        reads: 'orders',
        sinceMs: 0,
        maxAttempts: 2,
        delaysMs: [100],
        order: 'latest',
        inbox: true,
        effects: true,
      },
    ],
    orders: 'orders',
    effects: [EFFECT],
    stock: new Map([['book', 1]]),
    inbox: [{ consumer: 'reserve', messageId: 'm1', outcome: 'applied' }],
    outbox: [],
    kept: new Map(),
    parked: new Map(),
    lostPromises: [],
    ...more,
  };
}

const event = (history: History, name: SeenEvent['event'], more: object = {}): void =>
  history.add({
    what: 'event',
    who: 'bus',
    event: { event: name, messageId: 'm1', consumer: 'reserve', attempt: 1, ...more },
  });
const step = (
  history: History,
  name: 'commit.after' | 'ack.before' | 'received',
  atMs = 2_000,
): void => history.add({ what: 'step', who: 'bus', step: name, ...AT, atMs });
const applied = (history: History): void => {
  step(history, 'commit.after');
  step(history, 'ack.before');
};

it('finds nothing wrong with one effect of a confirmed message', () => {
  expect(check(evidence(applied))).toEqual([]);
});

const copy = (text: string) =>
  new Map([['reserve', [{ id: 'm1', body: new TextEncoder().encode(text), headers: {} }]]]);

it.each<[string, Evidence]>([
  ['I1', evidence(applied, { inbox: [], effects: [], stock: new Map() })],
  ['I1', evidence(applied, { effects: [], stock: new Map() })],
  [
    'I2',
    evidence(applied, {
      effects: [EFFECT, { ...EFFECT, aggregateVersion: 8 }],
      stock: new Map([['book', 2]]),
    }),
  ],
  ['I2', evidence(applied, { stock: new Map([['book', 5]]) })],
  ['I3', evidence((history) => step(history, 'ack.before'))],
  ['I5', evidence(applied, { parked: copy('{"id": "m1"}') })],
  [
    'I6',
    evidence((history) => {
      event(history, 'message.failed');
      history.add({ what: 'run', who: 'bus', act: 'ok', ...AT, atMs: 2_000 });
      history.add({ what: 'run', who: 'bus', act: 'ok', ...AT, attempt: 2, atMs: 2_099 });
    }),
  ],
  [
    'I7',
    evidence((history) => {
      for (const attempt of [1, 2, 3]) event(history, 'message.failed', { attempt });
    }),
  ],
  [
    'I8',
    evidence((history) => {
      event(history, 'message.failed', { failure: 'permanent' });
      event(history, 'message.retried', { dueAtMs: 0 });
    }),
  ],
  [
    'I9',
    evidence((history) => history.add({ what: 'run', who: 'bus', act: 'ok', ...AT, attempt: 2 })),
  ],
  [
    'I10',
    evidence((history) => {
      for (let at = 0; at < 6; at += 1) step(history, 'received', 2_000 + at);
    }),
  ],
  [
    'I11',
    evidence(applied, {
      effects: [EFFECT, { ...EFFECT, messageId: 'm0', aggregateVersion: 6 }],
      stock: new Map([['book', 2]]),
    }),
  ],
  ['I12', evidence(applied, { lostPromises: ['Error: nobody waited'] })],
  ['I12', evidence((history) => history.add({ what: 'sent', who: 'bus', id: 'm2', body: BODY }))],
])('finds a violation of %s', (invariant, seen) => {
  const found = check(seen);
  expect(found).not.toEqual([]);
  expect(found.every((text) => text.startsWith(`${invariant}: `))).toBe(true);
});

it('leaves out an invariant that the case breaks on purpose', () => {
  const broken = evidence(applied, { lostPromises: ['Error: on purpose'] });
  broken.limits.skip = { I12: 'the case throws one away' };
  expect(check(broken)).toEqual([]);
});
