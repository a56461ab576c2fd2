import { describe, expect, it } from 'vitest';
import {
  deliveryCount,
  fromHeaders,
  PUBLISH_TAG,
  publishTag,
  toProperties,
} from '../src/wire-headers.ts';
import { outgoing } from './message.ts';

describe('toProperties', () => {
  it('mirrors the message, persistent and mandatory', () => {
    const mirror = {
      id: 'm1',
      type: 'order.created',
      contentType: 'application/json',
      correlationId: 'c1',
      occurredAtMs: 1_999,
    };
    expect(toProperties(outgoing('x:orders', { mirror, headers: { a: '1' } }), 7)).toEqual({
      persistent: true,
      mandatory: true,
      messageId: 'm1',
      type: 'order.created',
      contentType: 'application/json',
      correlationId: 'c1',
      timestamp: 1,
      headers: { a: '1', [PUBLISH_TAG]: 7 },
    });
  });

  it('leaves out a time that AMQP cannot carry', () => {
    const mirror = { ...outgoing('x:o').mirror, occurredAtMs: -1 };
    expect(toProperties(outgoing('x:o', { mirror }), 1)).not.toHaveProperty('timestamp');
  });

  it.each([
    'x-death',
    'X-Death',
    'x-first-death-queue',
    'x-last-death-reason',
    'x-delivery-count',
    'x-acquired-count',
    'x-opt-delivery-delay',
    'CC',
    'BCC',
    PUBLISH_TAG,
  ])('does not forward %s of a publisher', (name) => {
    expect(toProperties(outgoing('x:o', { headers: { [name]: 'forged' } }), 1).headers).toEqual({
      [PUBLISH_TAG]: 1,
    });
  });

  it.each(['x-ackord-attempt', 'ackord-attempt', 'traceparent', 'content', 'cc-list', 'bcc2'])(
    'forwards %s',
    (name) => {
      const { headers } = toProperties(outgoing('x:o', { headers: { [name]: 'kept' } }), 1);
      expect(headers).toHaveProperty([name], 'kept');
    },
  );
});

describe('fromHeaders', () => {
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;

  it.each([
    ['text', 'ü', 'ü'],
    ['number', 12.5, '12.5'],
    ['boolean', false, 'false'],
    ['null', null, 'null'],
    ['bytes', Buffer.from('raw'), 'raw'],
    ['bigint', 12n, '12'],
    ['nested bigint', { a: 1n }, '{"a":"1"}'],
    ['timestamp', { '!': 'timestamp', value: 5 }, '{"!":"timestamp","value":5}'],
    ['x-death', [{ count: 1, queue: 'q' }], '[{"count":1,"queue":"q"}]'],
    ['cycle', cyclic, '[object Object]'],
  ])('reads %s as text', (_, value, text) => {
    expect(fromHeaders({ name: value })).toEqual({ name: text });
  });

  it('takes the private tag off', () => {
    expect(fromHeaders({ [PUBLISH_TAG]: 4, other: 'o' })).toEqual({ other: 'o' });
  });

  it('reads a message without headers', () => {
    expect(fromHeaders(undefined)).toEqual({});
  });
});

it.each([
  [undefined, 1],
  [0, 1],
  [3, 4],
  ['3', 1],
  [-1, 1],
  [1.5, 1],
])('counts a delivery with x-delivery-count %s as number %i', (count, expected) => {
  expect(deliveryCount({ 'x-delivery-count': count })).toBe(expected);
});

it('ignores a tag that is not its own', () => {
  expect(publishTag({ [PUBLISH_TAG]: 'forged' })).toBeUndefined();
  expect(publishTag({ [PUBLISH_TAG]: 9 })).toBe(9);
  expect(publishTag(undefined)).toBeUndefined();
});
