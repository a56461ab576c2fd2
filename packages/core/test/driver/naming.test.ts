import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createNaming,
  delayLabel,
  escapeName,
  type NameRules,
  unescapeName,
} from '../../src/driver/naming.ts';

const narrow: NameRules = {
  allowed: /^[A-Za-z0-9_-]$/,
  escape: '_',
  maxBytes: 80,
  separator: '-',
};
const wide: NameRules = {
  allowed: /^\P{Cc}$/u,
  escape: '%',
  reserved: /^amq\./,
  maxBytes: 255,
};
const invalid = expect.objectContaining({ code: 'MSG_CONFIG_INVALID' });

describe('createNaming', () => {
  const naming = createNaming(wide, {
    prefix: 'staging.',
    destinations: { orders: 'shop.orders' },
    consumers: { reserve: 'old.queue', empty: '' },
  });

  it('puts one visible scheme behind prefix and consumer', () => {
    expect([
      naming.destination('bills'),
      naming.consumer('audit'),
      naming.retry('audit'),
      naming.retry('audit', 5_000),
      naming.redrive('audit'),
      naming.parking('audit'),
      naming.deadLetters('audit'),
    ]).toEqual([
      'staging.bills',
      'staging.audit',
      'staging.audit.retry',
      'staging.audit.retry.5s',
      'staging.audit.redrive',
      'staging.audit.parking',
      'staging.audit.dlx',
    ]);
  });

  it('takes an override without the prefix', () => {
    expect(naming.destination('orders')).toBe('shop.orders');
    expect(naming.consumer('reserve')).toBe('old.queue');
    expect(naming.retry('reserve', 60_000)).toBe('old.queue.retry.1m');
  });

  it('takes no name of the object prototype for an override', () => {
    expect(naming.consumer('constructor')).toBe('staging.constructor');
  });

  it('joins with a separator that the broker allows', () => {
    const named = createNaming(narrow, { prefix: '' });
    expect(named.retry('inventory.reserve', 200)).toBe('inventory_2Ereserve-retry-200ms');
  });

  it.each([
    ['an empty name', () => naming.consumer(''), /physical name of "" is "": .* at least one/],
    ['an override that names nothing', () => naming.retry('empty'), /"empty" is ""/],
    [
      'a name over the limit',
      () => naming.consumer('é'.repeat(124)),
      /at most 255 bytes, and this has 256 bytes/,
    ],
    ['half a surrogate pair', () => naming.consumer('\ud800'), /surrogate/],
  ])('refuses %s', (_, name, text) => {
    expect(name).toThrow(text);
    expect(name).toThrow(invalid);
  });
});

describe('escapeName', () => {
  it.each([
    [wide, 'a\r\nb', 'a%0D%0Ab'],
    [wide, '100%', '100%25'],
    [wide, 'amq.orders', '%61mq.orders'],
    [wide, 'größe/ä ö', 'größe/ä ö'],
    [wide, '%0A', '%250A'],
    [narrow, 'a.b_c', 'a_2Eb_5Fc'],
    [narrow, 'é😀', '_C3_A9_F0_9F_98_80'],
  ])('writes (%#) %j as %j', (rules, name, physical) => {
    expect(escapeName(name, rules)).toBe(physical);
    expect(unescapeName(physical, rules)).toBe(name);
  });

  it('is reversible for every name, and holds allowed characters only', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(wide, narrow), (name, rules) => {
        const physical = escapeName(name, rules);
        expect(unescapeName(physical, rules)).toBe(name);
        expect(Array.from(physical).every((one) => rules.allowed.test(one))).toBe(true);
      }),
    );
  });
});

describe('delayLabel', () => {
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

  it('gives every delay a label of its own', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (one, other) => {
        fc.pre(one !== other);
        expect(delayLabel(one)).not.toBe(delayLabel(other));
      }),
    );
  });
});
