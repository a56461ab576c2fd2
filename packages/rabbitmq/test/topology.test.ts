import type { Topology } from '@ackord/core/driver';
import { describe, expect, it } from 'vitest';
import { createNaming, delayLabel, escapeName, unescapeName } from '../src/names.ts';
import { bucketsInto, createPlan, readAddress } from '../src/topology.ts';

const plain = createNaming('', {});
const consumer = {
  name: 'inventory.reserve',
  from: ['orders'],
  types: ['order.created', 'order.cancelled'],
  delaysMs: [200, 5_000],
};
const topology: Topology = { destinations: [{ name: 'orders' }], consumers: [consumer] };

describe('createPlan', () => {
  const plan = createPlan(topology, plain);

  it('has a topic exchange per destination and a binding per handled type', () => {
    expect(plan.resources.filter(({ kind }) => kind !== 'queue')).toEqual([
      { kind: 'exchange', name: 'orders', settings: { type: 'topic' } },
      ...consumer.types.map((key) => ({
        kind: 'binding',
        name: `orders -[${key}]-> inventory.reserve`,
        settings: { exchange: 'orders', queue: 'inventory.reserve', key },
      })),
    ]);
  });

  it('declares read queues so that nothing is dropped by counting', () => {
    const read = { 'x-queue-type': 'quorum', 'x-delivery-limit': -1 };
    for (const name of ['', '.retry', '.parking']) {
      expect(plan.resources).toContainEqual({
        kind: 'queue',
        name: `inventory.reserve${name}`,
        settings: read,
      });
    }
  });

  it('lets every bucket expire into the retry queue of its own consumer, at least once', () => {
    expect(plan.resources).toContainEqual({
      kind: 'queue',
      name: 'inventory.reserve.retry.5s',
      settings: {
        'x-queue-type': 'quorum',
        'x-message-ttl': 5_000,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': 'inventory.reserve.retry',
        'x-dead-letter-strategy': 'at-least-once',
        'x-overflow': 'reject-publish',
      },
    });
    expect(bucketsInto(plan.resources, 'inventory.reserve.retry')).toEqual([
      'inventory.reserve.retry.200ms',
      'inventory.reserve.retry.5s',
    ]);
  });

  it.each([
    [{ at: 'destination', name: 'orders' }, ['x:orders']],
    [
      { at: 'retry', consumer: 'inventory.reserve', delayMs: 200 },
      ['q:inventory.reserve.retry.200ms'],
    ],
    [{ at: 'retry', consumer: 'inventory.reserve', delayMs: 201 }, []],
    [{ at: 'retry', consumer: 'inventory.reserve' }, []],
    [{ at: 'redrive', consumer: 'inventory.reserve' }, ['q:inventory.reserve.retry']],
    [{ at: 'parking', consumer: 'inventory.reserve' }, ['q:inventory.reserve.parking']],
  ] as const)('puts %o at %o', (target, addresses) => {
    expect(plan.address(target)).toEqual(addresses);
  });

  it('reads live, retry and parking', () => {
    expect(plan.sources('inventory.reserve').map(({ address, feed }) => [feed, address])).toEqual([
      ['live', 'q:inventory.reserve'],
      ['retry', 'q:inventory.reserve.retry'],
      ['parking', 'q:inventory.reserve.parking'],
    ]);
  });

  it('binds for everything when no type is named', () => {
    const all = createPlan({ ...topology, consumers: [{ ...consumer, types: [] }] }, plain);
    expect(all.resources.at(-1)?.settings['key']).toBe('#');
  });

  it.each([
    ['two consumers of one name', [consumer, { ...consumer, delaysMs: [] }], /two consumers need/],
    ['a name that is taken', [consumer, { ...consumer, name: 'inventory.reserve.retry' }], /taken/],
    ['a delay of zero', [{ ...consumer, delaysMs: [0] }], /delay of 0 ms/],
    ['half a millisecond', [{ ...consumer, delaysMs: [1.5] }], /delay of 1.5 ms/],
    ['a delay of 50 days', [{ ...consumer, delaysMs: [4_320_000_000] }], /4294967295/],
    ['a long type', [{ ...consumer, types: ['t'.repeat(256)] }], /256 bytes/],
    ['a long name', [{ ...consumer, name: 'é'.repeat(128) }], /262 bytes/],
    ['an empty name', [{ ...consumer, name: '' }], /no physical name/],
    ['half a surrogate pair', [{ ...consumer, name: '\ud800' }], /surrogate/],
  ])('refuses %s', (_, consumers, text) => {
    expect(() => createPlan({ ...topology, consumers }, plain)).toThrow(text);
  });
});

describe('names', () => {
  it('puts the prefix before every name, but not before an override', () => {
    const naming = createNaming('staging.', { consumers: { reserve: 'old.queue' } });
    expect(naming.exchange('orders')).toBe('staging.orders');
    expect(naming.queue('audit')).toBe('staging.audit');
    expect(naming.queue('reserve')).toBe('old.queue');
    expect(naming.bucket('reserve', 60_000)).toBe('old.queue.retry.1m');
  });

  it('refuses an override that names nothing', () => {
    const naming = createNaming('staging.', { consumers: { reserve: '' } });
    expect(() => naming.retry('reserve')).toThrow(/"reserve" has no physical name/);
  });

  it.each([
    ['a\r\nb', 'a%0D%0Ab'],
    ['100%', '100%25'],
    ['amq.orders', '%61mq.orders'],
    ['größe/ä ö', 'größe/ä ö'],
    ['%0A', '%250A'],
  ])('escapes %j reversibly', (name, physical) => {
    expect(escapeName(name)).toBe(physical);
    expect(unescapeName(physical)).toBe(name);
  });

  it.each([
    [200, '200ms'],
    [1_500, '1500ms'],
    [5_000, '5s'],
    [90_000, '90s'],
    [300_000, '5m'],
    [7_200_000, '2h'],
  ])('labels %i ms as %s', (delayMs, label) => {
    expect(delayLabel(delayMs)).toBe(label);
  });
});

it.each(['', 'x:', 'q:', 'orders', 'y:orders'])('takes %j for no address', (address) => {
  expect(readAddress(address)).toBeUndefined();
});
