import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const CORE = 'packages/core/src/';
const OPTIONS = readFileSync('docs/reference/options.md', 'utf8');
const EVENTS = readFileSync('docs/reference/events.md', 'utf8');

/** Fields of an interface, those of nested objects too. */
function fieldsOf(file: string, name: string): readonly string[] {
  const source = readFileSync(CORE + file, 'utf8');
  const body = source.split(new RegExp(`export interface ${name}\\b`))[1]?.split('\n}\n')[0] ?? '';
  return [...body.matchAll(/(?:^ +|\{ )readonly (\w+)\??:/gm)].map(([, field = '']) => field);
}

describe('the reference of options', () => {
  it.each([
    ['bus/bus-options.ts', 'BusOptions'],
    ['consume/consumer-options.ts', 'ConsumerOptions'],
    ['retry/retry-policy.ts', 'RetryOptions'],
    ['contract/contract.ts', 'EventOptions'],
    ['contract/contract.ts', 'DraftOptions'],
    ['publish/publisher.ts', 'PublishOptions'],
    ['consume/handler.ts', 'HandlerContext'],
    ['consume/handler.ts', 'Message'],
  ])('names every field in %s %s', (file, name) => {
    const fields = fieldsOf(file, name);
    expect(fields.length).toBeGreaterThan(1);
    expect(fields.filter((field) => !new RegExp(`\`(.*[.{ ])?${field}\\b`).test(OPTIONS))).toEqual(
      [],
    );
  });
});

it('the reference of events names every event and no other', () => {
  const source = readFileSync(`${CORE}observe/events.ts`, 'utf8');
  const known = new Set([...source.matchAll(/'([a-z]+\.[a-z]+)'/g)].map(([, name = '']) => name));
  const named = new Set([...EVENTS.matchAll(/`([a-z]+\.[a-z]+)`/g)].map(([, name = '']) => name));
  expect([...named].sort()).toEqual([...known].sort());
});
