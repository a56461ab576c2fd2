import { expect, it } from 'vitest';
import { endsOf } from '../../mutants/run-cases.ts';

const NONE = 'vitest ended with 1: out of memory';

it('takes the end of each case, variants apart, and only the first line of a failure', () => {
  const failure = 'AssertionError: expected 2 to be 1\n    at run (case.ts:3:4)\n    at more';
  const withHistory = 'Error: I2: 2 effects\n\nHistory of S02 on a/b (s02_1):\n+0 ms sent';
  const assertionResults = [
    { title: 'S01b the variant', status: 'passed' },
    { title: 'S01 the case', status: 'failed', failureMessages: [failure] },
    { title: 'S02 another', status: 'failed', failureMessages: [withHistory] },
    { title: 'S03 no server', status: 'skipped', failureMessages: null },
  ];
  const ends = endsOf({ testResults: [{ assertionResults }] }, ['S01', 'S01b', 'S02', 'S03'], NONE);
  expect([...ends.values()]).toEqual([
    { is: 'failed', says: 'AssertionError: expected 2 to be 1' },
    { is: 'passed', says: '' },
    { is: 'failed', says: 'Error: I2: 2 effects' },
    { is: 'absent', says: 'the case was skipped' },
  ]);
});

it('takes a file that cannot be loaded as no verdict, and a run without a report too', () => {
  const broken = { message: 'Unexpected token in copy.ts', assertionResults: [] };
  expect(endsOf({ testResults: [broken] }, ['S01'], NONE).get('S01')).toEqual({
    is: 'absent',
    says: 'Unexpected token in copy.ts',
  });
  expect(endsOf(undefined, ['S01'], NONE).get('S01')).toEqual({ is: 'absent', says: NONE });
});
