import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readOrders } from '../../demo/read-orders.ts';

const folder = mkdtempSync(join(tmpdir(), 'ackord-orders-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(...lines: readonly string[]): string {
  const path = join(folder, 'orders.jsonl');
  writeFileSync(path, lines.join('\n'));
  return path;
}
const order = (orderId: string, more: object = {}): string =>
  JSON.stringify({ orderId, sku: 'pen-1', count: 1, ...more });

it('tells orders, repeated orders, older messages and bad lines apart', () => {
  const path = fileOf(
    `\uFEFF${order('a')}\r`,
    '',
    order('a'),
    order('b', { schemaVersion: 1 }),
    order('c', { schemaVersion: 5 }),
    '{"orderId"',
  );
  expect(readOrders(path).map(({ kind, line }) => [line, kind])).toEqual([
    [1, 'order'],
    [3, 'again'],
    [4, 'older'],
    [5, 'bad'],
    [6, 'bad'],
  ]);
});

it('sends a line that is not JSON as it stands, under an id of its own', () => {
  expect(readOrders(fileOf(order('a'), 'two cups, please'))[1]).toMatchObject({
    raw: { id: 'line-2', body: 'two cups, please' },
  });
});

it.each([
  ['"two"', 'two'],
  ['null', null],
])('does not make a message of version 2 of one with version %s', (json, version) => {
  const bad = `{"orderId":"x","sku":"pen-1","count":1,"schemaVersion":${json}}`;
  const [, line] = readOrders(fileOf(order('a'), bad));
  expect(line?.kind).toBe('bad');
  expect(line?.kind === 'bad' && JSON.parse(line.raw.body)).toMatchObject({
    schema_version: version,
  });
});

it('refuses a file with more lines than it can process', () => {
  const lines = Array.from({ length: 5_001 }, (_, at) => order(`o-${at}`));
  expect(() => readOrders(fileOf(...lines))).toThrow(/5001 lines; the demo takes 5000/);
});
