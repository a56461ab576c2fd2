import { expect, it } from 'vitest';
import type { Verdict } from '../src/results.ts';
import { compareVerdicts } from '../src/verdicts.ts';

const PASSED: Verdict = { title: 'holds', verdict: 'passed', figures: { 'lateness in ms': 3 } };
const result = (cases: Record<string, Verdict>) => ({ profile: 'some/broker', cases });

it('lets figures move', () => {
  const moved = { ...PASSED, figures: { 'lateness in ms': 9 } };
  expect(compareVerdicts('some/broker', { S01: PASSED }, result({ S01: moved }))).toEqual([]);
});

it('does not compare a case whose servers were absent', () => {
  const absent: Verdict = { title: 'holds', verdict: 'absent', reason: 'URL from outside' };
  const cases = { S01: PASSED, S02: absent };
  expect(compareVerdicts('some/broker', { S01: PASSED, S02: PASSED }, result(cases))).toEqual([]);
});

it.each<[string, Record<string, Verdict>, RegExp]>([
  ['another verdict', { S01: { ...PASSED, verdict: 'failed' } }, /S01: the table says passed/],
  ['another reason', { S01: { ...PASSED, reason: 'slow' } }, /because slow/],
  ['a case that is not in the table', { S01: PASSED, S02: PASSED }, /S02: the table says nothing/],
  ['a case that did not run', { S02: PASSED }, /S01: .* this run nothing/],
  ['no case at all', {}, /ran no case/],
])('reports %s', (_, cases, text) => {
  expect(compareVerdicts('some/broker', { S01: PASSED }, result(cases)).join('\n')).toMatch(text);
});

it('reports a profile that gave no result', () => {
  expect(compareVerdicts('some/broker', { S01: PASSED }, undefined)).toEqual([
    'some/broker ran no case',
  ]);
});
