import { createNaming, escapeName, type Topology, unescapeName } from '@ackord/core/driver';
import { describe, expect, it } from 'vitest';
import { NAME_RULES } from '../src/options.ts';
import { bucketsInto, createPlan, readAddress } from '../src/topology.ts';

const plain = createNaming(NAME_RULES, { prefix: '' });
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
    ['a delay of zero', [{ ...consumer, delaysMs: [0] }], /"0 ms"/],
    ['half a millisecond', [{ ...consumer, delaysMs: [1.5] }], /"1.5 ms"/],
    ['a long type', [{ ...consumer, types: ['t'.repeat(256)] }], /256 bytes/],
    ['a long name', [{ ...consumer, name: 'é'.repeat(128) }], /262 bytes/],
    ['an empty name', [{ ...consumer, name: '' }], /physical name of .* at least one character/],
    ['half a surrogate pair', [{ ...consumer, name: '\ud800' }], /surrogate/],
  ])('refuses %s', (_, consumers, text) => {
    const plan = () => createPlan({ ...topology, consumers }, plain);
    expect(plan).toThrow(text);
    expect(plan).toThrow(expect.objectContaining({ code: 'MSG_CONFIG_INVALID' }));
  });

  it('refuses a delay of 50 days, which no bucket holds', () => {
    const plan = () =>
      createPlan({ ...topology, consumers: [{ ...consumer, delaysMs: [4_320_000_000] }] }, plain);
    expect(plan).toThrow(/4320000000 ms is over the 4294967295 ms/);
    expect(plan).toThrow(expect.objectContaining({ code: 'MSG_CONFIG_DELAY_TOO_LONG' }));
  });
});

describe('names', () => {
  it.each([
    ['a\r\nb', 'a%0D%0Ab'],
    ['100%', '100%25'],
    ['amq.orders', '%61mq.orders'],
    ['größe/ä ö', 'größe/ä ö'],
    ['%0A', '%250A'],
  ])('escapes %j reversibly', (name, physical) => {
    expect(escapeName(name, NAME_RULES)).toBe(physical);
    expect(unescapeName(physical, NAME_RULES)).toBe(name);
  });
});

it.each(['', 'x:', 'q:', 'orders', 'y:orders'])('takes %j for no address', (address) => {
  expect(readAddress(address)).toBeUndefined();
});
