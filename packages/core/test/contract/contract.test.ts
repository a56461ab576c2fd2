import { expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  type Contract,
  type Draft,
  type EventOptions,
  event,
  validateDraft,
} from '../../src/contract/contract.ts';
import type { StandardSchema } from '../../src/contract/standard-schema.ts';

const OrderCreated = event('order.created', {
  version: 2,
  destination: 'orders',
  data: z.object({ orderId: z.string(), count: z.int().positive().default(1) }),
});

it('infers what a publisher gives and what a handler sees', () => {
  type In = { orderId: string; count?: number | undefined };
  type Out = { orderId: string; count: number };
  expectTypeOf(OrderCreated).parameter(0).toEqualTypeOf<In>();
  expectTypeOf(OrderCreated({ orderId: '42' })).toEqualTypeOf<Draft<In>>();
  const handle = <I, O>(
    contract: Contract<I, O>,
    run: (data: O) => void,
  ): [typeof contract, typeof run] => [contract, run];
  handle(OrderCreated, (data) => expectTypeOf(data).toEqualTypeOf<Out>());
  expectTypeOf(OrderCreated).toExtend<Contract>();
  expectTypeOf(OrderCreated({ orderId: '42' })).toExtend<Draft>();
  // @ts-expect-error the field is missing
  OrderCreated({});
  // @ts-expect-error the field has another type
  OrderCreated({ orderId: 42 });
});

it('knows itself', () => {
  const { type, version, destination, upcast } = OrderCreated;
  expect({ type, version, destination, upcast }).toEqual({
    type: 'order.created',
    version: 2,
    destination: 'orders',
    upcast: {},
  });
});

it('mints id and time once, so that a draft stays the same message', () => {
  const draft = OrderCreated({ orderId: '42' });
  expect(draft.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  expect(Math.abs(Date.parse(draft.occurredAt) - Date.now())).toBeLessThan(10_000);
  expect(draft.contract).toBe(OrderCreated);
  expect(draft.data).toEqual({ orderId: '42' });
  expect(OrderCreated({ orderId: '42' }).id).not.toBe(draft.id);
});

it('takes every option', () => {
  const draft = OrderCreated(
    { orderId: '42' },
    {
      id: 'm1',
      aggregate: { type: 'order', id: '42', version: 'next' },
      occurredAt: new Date('2026-07-21T09:00:00Z'),
      expiresAt: '2026-07-21T11:00:00+02:00',
      correlationId: 'r1',
      causationId: 'c1',
    },
  );
  expect(draft).toEqual({
    contract: OrderCreated,
    id: 'm1',
    aggregate: { type: 'order', id: '42', version: 'next' },
    occurredAt: '2026-07-21T09:00:00.000Z',
    expiresAt: '2026-07-21T11:00:00+02:00',
    correlationId: 'r1',
    causationId: 'c1',
    data: { orderId: '42' },
  });
});

it.each([
  [{ id: '' }, 'id'],
  [{ id: 'a\0' }, 'id'],
  [{ occurredAt: new Date(Number.NaN) }, 'occurred_at'],
  [{ occurredAt: '2026-07-21' }, 'occurred_at'],
  [{ expiresAt: 'tomorrow' }, 'expires_at'],
  [{ correlationId: 7 }, 'correlation_id'],
  [{ causationId: '' }, 'causation_id'],
  [{ aggregate: { type: '', id: '1' } }, 'aggregate.type'],
  [{ aggregate: { type: 'order', id: 42 } }, 'aggregate.id'],
  [{ aggregate: { type: 'order', id: '42', version: 1.5 } }, 'aggregate.version'],
])('refuses the draft options %o', (options, field) => {
  expect(() => OrderCreated({ orderId: '42' }, options as never)).toThrowError(
    expect.objectContaining({
      code: 'MSG_CONTRACT_INVALID_ENVELOPE',
      details: expect.objectContaining({ field }),
    }),
  );
});

it('refuses unknown draft options', () => {
  expect(() => OrderCreated({ orderId: '42' }, { ID: 'm1' } as never)).toThrow(
    'options of order.created is "ID"',
  );
});

const good: EventOptions<StandardSchema> = { version: 2, destination: 'd', data: z.string() };
const step = (): unknown => null;
it.each([
  ['type', '', {}],
  ['type', 7, {}],
  ["event('t').version", 't', { version: 0 }],
  ["event('t').version", 't', { version: '2' }],
  ["event('t').destination", 't', { destination: '' }],
  ["event('t').data", 't', { data: undefined }],
  ["event('t').data", 't', { data: { parse: step } }],
  ["event('t').upcast", 't', { version: 3, upcast: { 1: step } }],
  ["event('t').upcast", 't', { upcast: { 2: step } }],
  ["event('t').upcast", 't', { upcast: { 0: step, 1: step } }],
  ["event('t').upcast[1]", 't', { upcast: { 1: 'x' } }],
  ["event('t')", 't', { schema: z.string() }],
])('refuses a wrong %s', (option, type, change) => {
  expect(() => event(type as string, { ...good, ...change } as never)).toThrowError(
    expect.objectContaining({
      code: 'MSG_CONFIG_INVALID',
      details: expect.objectContaining({ option }),
    }),
  );
});

it('validates a draft at once when the schema is synchronous', () => {
  expect(validateDraft(OrderCreated({ orderId: '42' }))).toBeUndefined();
  expect(() => validateDraft(OrderCreated({ orderId: 42 as never, count: -1 }))).toThrowError(
    expect.objectContaining({
      code: 'MSG_CONTRACT_INVALID_DATA',
      failure: 'permanent',
      message: expect.stringMatching(/order\.created version 2 .*data\.orderId: .*data\.count: /),
    }),
  );
});

it('validates with a promise when the schema is asynchronous', async () => {
  const Checked = event('t', {
    version: 1,
    destination: 'd',
    data: z.string().refine(async (value) => value === 'ok'),
  });
  await expect(validateDraft(Checked('ok'))).resolves.toBeUndefined();
  await expect(validateDraft(Checked('no'))).rejects.toMatchObject({
    code: 'MSG_CONTRACT_INVALID_DATA',
  });
});
