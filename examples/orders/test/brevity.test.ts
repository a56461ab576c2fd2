import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('has files for two brokers that differ by one line', () => {
  const [memory = [], other = []] = ['memory', 'rabbitmq'].map((name) =>
    readFileSync(new URL(`../src/broker-${name}.ts`, import.meta.url), 'utf8').split('\n'),
  );
  expect(memory).toHaveLength(other.length);
  expect(memory.filter((line, at) => line !== other[at])).toHaveLength(1);
});

it('has a consumer of at most 15 lines', () => {
  const lines = readFileSync(new URL('../src/inventory.ts', import.meta.url), 'utf8').split('\n');
  const first = lines.findIndex((line) => line.includes('bus.consume('));
  const last = lines.findIndex((line, at) => at > first && line === '  ]);');
  expect(last).toBeGreaterThan(first);
  expect(last - first + 1).toBeLessThanOrEqual(15);
});
