import { expect, it } from 'vitest';
import { refuseDelay, refuseLongType, refuseSharedNames } from '../../src/driver/plan-checks.ts';

const resource = (kind: string, name: string) => ({ kind, name, settings: {} });
const invalid = expect.objectContaining({ code: 'MSG_CONFIG_INVALID' });

it('refuses one place with two roles, and names it', () => {
  const shared = [resource('queue', 'a'), resource('queue', 'a.retry'), resource('queue', 'a')];
  expect(() => refuseSharedNames(shared, 'queue')).toThrow(/queue name is "a"/);
  expect(() => refuseSharedNames(shared, 'queue')).toThrow(invalid);
});

it('lets resources of different kinds share a name', () => {
  const named = [resource('queue', 'a'), resource('exchange', 'a'), resource('exchange', 'a')];
  expect(() => refuseSharedNames(named, 'queue')).not.toThrow();
});

const bounds = { profile: 'some/buckets', minMs: 1, maxMs: 100 };

it.each([0, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses a delay of %d', (ms) => {
  const refused = () => refuseDelay('audit', ms, bounds);
  expect(refused).toThrow(`delay of "audit" is "${ms} ms"`);
  expect(refused).toThrow(/from 1 to 100/);
  expect(refused).toThrow(invalid);
});

it('tells how long a delay may be', () => {
  const refused = () => refuseDelay('audit', 101, bounds);
  expect(refused).toThrow(
    /consumer audit of 101 ms is over the 100 ms that some\/buckets can hold/,
  );
  expect(refused).toThrow(expect.objectContaining({ code: 'MSG_CONFIG_DELAY_TOO_LONG' }));
});

it.each([1, 50, 100])('takes a delay of %i', (ms) => {
  expect(() => refuseDelay('audit', ms, bounds)).not.toThrow();
});

it('measures a type in bytes', () => {
  expect(() => refuseLongType('audit', 'ab', 2)).not.toThrow();
  expect(() => refuseLongType('audit', 'aé', 2)).toThrow(/at most the 2 bytes .* has 3 bytes/);
  expect(() => refuseLongType('audit', 'aé', 2)).toThrow(invalid);
});
