import { expect, it } from 'vitest';
import { casesByProfile, profilesText, titlesText } from '../steps/list-cases.ts';

const listed = casesByProfile([
  'rabbitmq/ttl-buckets > S01 killed after COMMIT, before ack',
  'rabbitmq/ttl-buckets > S01b killed before COMMIT',
  'rabbitmq/ttl-buckets > D01 delays',
  'conformance > memory/queue > S01 killed after COMMIT, before ack',
  'history checker > refuses and/or',
]);

it('takes profile, case and title out of the names of tests', () => {
  expect(listed).toEqual(
    new Map([
      [
        'rabbitmq/ttl-buckets',
        new Map([
          ['S01', ['S01 killed after COMMIT, before ack', 'S01b killed before COMMIT']],
          ['D01', ['D01 delays']],
        ]),
      ],
      ['memory/queue', new Map([['S01', ['S01 killed after COMMIT, before ack']]])],
    ]),
  );
});

it('lists ids and titles in order, a title of several profiles once', () => {
  expect(profilesText(listed)).toMatch(/:\n {2}memory\/queue: S01\n {2}rabbitmq.*: D01 S01\n$/);
  expect(titlesText(listed)).toBe(
    '  D01 delays\n  S01 killed after COMMIT, before ack\n  S01b killed before COMMIT\n',
  );
});
