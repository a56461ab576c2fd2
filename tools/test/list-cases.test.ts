import { expect, it } from 'vitest';
import { casesByProfile } from '../steps/list-cases.ts';

it('takes profile and case out of the names of tests', () => {
  const listed = casesByProfile([
    'rabbitmq/ttl-buckets > S01 killed after COMMIT, before ack',
    'rabbitmq/ttl-buckets > D01 delays',
    'conformance > memory/queue > S01 killed after COMMIT, before ack',
    'history checker > refuses and/or',
  ]);
  expect(listed).toEqual(
    new Map([
      ['rabbitmq/ttl-buckets', new Set(['S01', 'D01'])],
      ['memory/queue', new Set(['S01'])],
    ]),
  );
});
