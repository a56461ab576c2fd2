import { expect, it } from 'vitest';
import { readOrderLine } from '../src/order-line.ts';

const order = { orderId: 'o-1', sku: 'book-17', count: 2 };

it.each([
  ['an order', JSON.stringify(order), { order }],
  [
    'one of version 1, which had no count',
    '{"orderId":"o-1","sku":"book-17","schemaVersion":1}',
    { order: { ...order, count: 1 }, schemaVersion: 1 },
  ],
])('reads %s', (_, text, expected) => {
  expect(readOrderLine(text)).toEqual(expected);
});

it.each([
  ['{"orderId":', /^not JSON: /],
  ['null', /expected object, received null/],
  [JSON.stringify({ ...order, count: 0 }), /"count": Too small/],
  [JSON.stringify({ ...order, sku: undefined }), /"sku": /],
  [JSON.stringify({ ...order, orderId: 'a\u0000b' }), /"orderId": must be 1 to 100 letters/],
])('says what is wrong with %s', (text, wrong) => {
  expect(readOrderLine(text)).toEqual({ wrong: expect.stringMatching(wrong) });
});
