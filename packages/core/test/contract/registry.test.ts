import { expect, it } from 'vitest';
import { z } from 'zod';
import { event, type UpcastStep } from '../../src/contract/contract.ts';
import { ContractRegistry } from '../../src/contract/registry.ts';
import type { StandardSchema } from '../../src/contract/standard-schema.ts';
import type { Envelope } from '../../src/envelope/envelope.ts';

const steps: Record<number, UpcastStep> = {
  1: (old) => ({ ...(old as object), two: true }),
  2: (old) => ({ ...(old as object), three: true }),
};
const contract = (version: number, upcast: Record<number, UpcastStep> = {}) =>
  event('t', { version, destination: 'd', data: z.looseObject({ a: z.coerce.number() }), upcast });
const envelope = (schemaVersion: number, data: unknown = { a: '1' }, type = 't'): Envelope => ({
  id: 'm1',
  type,
  schemaVersion,
  occurredAt: '2026-07-21T09:00:00Z',
  producer: 'p',
  data,
});

it('answers at once with handler, contract and validated data', () => {
  const handler = { contract: contract(1), name: 'h' };
  const registry = new ContractRegistry([handler]);
  expect(registry.types).toEqual(['t']);
  expect(registry.resolve(envelope(1))).toEqual({
    handler,
    contract: handler.contract,
    data: { a: 1 },
  });
});

it('answers undefined for a type without a handler, however it is called', () => {
  const registry = new ContractRegistry([{ contract: contract(1) }]);
  for (const type of ['other', '__proto__', 'constructor', 'toString']) {
    expect(registry.resolve(envelope(1, {}, type))).toBeUndefined();
  }
});

it('lets additive fields pass and upcasts older versions step by step', () => {
  const registry = new ContractRegistry([{ contract: contract(3, steps) }]);
  const data = (version: number): unknown => registry.resolve(envelope(version)) as unknown;
  expect(data(3)).toMatchObject({ data: { a: 1 } });
  expect(data(2)).toMatchObject({ data: { a: 1, three: true } });
  expect(data(1)).toMatchObject({ data: { a: 1, two: true, three: true } });
});

it('has two versions side by side, and upcasts others to the nearest', () => {
  const two = { contract: contract(2, { 1: steps[1] as UpcastStep }) };
  const three = { contract: contract(3, steps) };
  for (const handlers of [
    [two, three],
    [three, two],
  ]) {
    const registry = new ContractRegistry(handlers);
    expect(registry.resolve(envelope(3))).toMatchObject({ handler: three });
    expect(registry.resolve(envelope(2))).toMatchObject({ handler: two });
    const old = registry.resolve(envelope(1));
    expect(old).toMatchObject({ handler: two, data: { a: 1, two: true } });
    expect(old).not.toHaveProperty('data.three');
  }
});

it.each([4, 1, 99])('refuses version %i as unknown and names the known ones', (version) => {
  const upcast = { 2: steps[2] as UpcastStep };
  const registry = new ContractRegistry([{ contract: contract(3, upcast) }]);
  expect(() => registry.resolve(envelope(version))).toThrowError(
    expect.objectContaining({
      code: 'MSG_CONTRACT_UNKNOWN_VERSION',
      failure: 'permanent',
      details: { type: 't', version, known: [2, 3] },
    }),
  );
});

it('says which step threw', () => {
  const bad = (): unknown => {
    throw new Error('no sku');
  };
  const registry = new ContractRegistry([
    { contract: contract(3, { 1: steps[1] as UpcastStep, 2: bad }) },
  ]);
  expect(() => registry.resolve(envelope(1))).toThrowError(
    expect.objectContaining({
      code: 'MSG_CONTRACT_UPCAST_FAILED',
      message: expect.stringContaining('from schema version 2 to 3 threw: "no sku"'),
    }),
  );
});

it('refuses data that does not fit, with the path', () => {
  const registry = new ContractRegistry([{ contract: contract(1) }]);
  expect(() => registry.resolve(envelope(1, { a: 'x' }))).toThrowError(
    expect.objectContaining({
      code: 'MSG_CONTRACT_INVALID_DATA',
      message: expect.stringContaining('data.a: '),
    }),
  );
  expect(() => registry.resolve(envelope(1, null))).toThrow('does not fit its schema: data: ');
});

it('reads paths of keys as well as of objects that hold a key', () => {
  const issues = [{ message: 'wrong', path: ['items', { key: 0 }, { key: 'sku' }] }];
  const data: StandardSchema = {
    '~standard': { version: 1, vendor: 'test', validate: () => ({ issues }) },
  };
  const registry = new ContractRegistry([
    { contract: event('t', { version: 1, destination: 'd', data }) },
  ]);
  expect(() => registry.resolve(envelope(1))).toThrow('data.items.0.sku: wrong');
});

it('answers with a promise when the schema is asynchronous', async () => {
  const data = z.string().refine(async (value) => value === 'ok');
  const handler = { contract: event('t', { version: 1, destination: 'd', data }) };
  const registry = new ContractRegistry([handler]);
  await expect(registry.resolve(envelope(1, 'ok'))).resolves.toMatchObject({ data: 'ok', handler });
  await expect(registry.resolve(envelope(1, 'no'))).rejects.toMatchObject({
    code: 'MSG_CONTRACT_INVALID_DATA',
  });
});

it('passes on what the schema itself throws: a defect, not bad data', async () => {
  const defect = (): never => {
    throw new TypeError('defect');
  };
  const sync: StandardSchema = {
    '~standard': { version: 1, vendor: 'test', validate: defect },
  };
  // zod takes a throwing transform for an asynchronous one.
  const resolve = (data: StandardSchema): unknown =>
    new ContractRegistry([
      { contract: event('t', { version: 1, destination: 'd', data }) },
    ]).resolve(envelope(1, 'x'));
  expect(() => resolve(sync)).toThrow(TypeError);
  await expect(resolve(z.string().transform(defect))).rejects.toThrow(TypeError);
});

it('refuses two handlers for one type and version', () => {
  expect(
    () => new ContractRegistry([{ contract: contract(1) }, { contract: contract(1) }]),
  ).toThrow('Option handlers is "t version 1"');
});
