import { expect, it } from 'vitest';
import type { ConformanceCase } from '../src/case.ts';
import { loadCases } from '../src/load-cases.ts';
import { planCases } from '../src/plan-cases.ts';
import type { Profile } from '../src/profile.ts';

const PROFILE: Profile = {
  name: 'some/broker',
  database: 'pglite',
  delaysMs: [1, 2, 3],
  kill: 'abandoned',
  start: () => Promise.reject(new Error('nothing to start')),
};
const each = (id: string, more: Partial<ConformanceCase> = {}): ConformanceCase => ({
  id,
  title: 'does something',
  run: async () => {},
  ...more,
});

it('runs cases that stop servers apart, and those that measure time last', () => {
  const cases = [each('S01'), each('S02', { needs: ['database'] }), each('D01', { alone: true })];
  expect(planCases(PROFILE, cases).map(({ group }) => group)).toEqual([
    'shared',
    'isolated',
    'alone',
  ]);
});

it('skips what the profile lacks or leaves out, with the reason', () => {
  const profile = {
    ...PROFILE,
    lacks: { silence: 'no network' },
    skips: [{ cases: ['A02'], reason: 'no batches', source: 'its manual' }],
  };
  const planned = planCases(profile, [
    each('A01', { needs: ['silence'] }),
    each('A02'),
    each('A03'),
  ]);
  expect(planned.map(({ skip }) => skip)).toEqual([
    'no network',
    'no batches (its manual)',
    undefined,
  ]);
});

it.each([
  [{ cases: ['A01'], reason: ' ', source: 'its manual' }, /needs a reason/],
  [{ cases: ['A01'], reason: 'no batches', source: '' }, /its source/],
  [{ cases: ['Z99'], reason: 'no batches', source: 'its manual' }, /no case Z99/],
])('refuses a skip without reason, source or case', (skip, text) => {
  expect(() => planCases({ ...PROFILE, skips: [skip] }, [each('A01')])).toThrow(text);
  expect(() => planCases({ ...PROFILE, deviations: [skip] }, [each('A01')])).toThrow(text);
});

it('finds every case of the folder once, in order', async () => {
  const ids = (await loadCases()).map(({ id }) => id);
  expect(ids).toContain('S01');
  expect(ids).toEqual([...new Set(ids)].sort());
});
