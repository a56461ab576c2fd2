import { expect, it } from 'vitest';
import { decideOrder, type OrderPolicy, type Versions } from '../../src/order/decide-order.ts';

it.each<[OrderPolicy, Versions, 'apply' | 'stale']>([
  ['latest', { version: 8, lastVersion: 7 }, 'apply'],
  ['latest', { version: 9, lastVersion: 7 }, 'apply'],
  ['latest', { version: 7, lastVersion: 8 }, 'stale'],
  ['latest', { version: 8, lastVersion: 8 }, 'stale'],
  ['latest', { version: 1 }, 'apply'],
  ['latest', { lastVersion: 8 }, 'apply'],
  ['latest', { version: 0, lastVersion: 0 }, 'stale'],
  ['none', { version: 1, lastVersion: 8 }, 'apply'],
])('%s with %o: %s', (policy, versions, expected) => {
  expect(decideOrder(policy, versions)).toBe(expected);
});
