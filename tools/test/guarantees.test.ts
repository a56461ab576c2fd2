import { expect, it } from 'vitest';
import { table } from '../steps/guarantees.ts';

it('counts the cases of a guarantee that passed, variants included, and leaves skipped ones out', () => {
  const rows = table({
    'memory/log': { B19: { verdict: 'passed' }, B20: { verdict: 'failed' } },
    'memory/queue': {
      B19: { verdict: 'skipped' },
      S01: { verdict: 'passed' },
      S01b: { verdict: 'passed' },
    },
  }).split('\n');
  expect(rows[0]).toBe('| guarantee | `memory/log` | `memory/queue` |');
  expect(rows.find((row) => row.includes('One effect'))).toContain('| – | 2 of 2 |');
  expect(rows.find((row) => row.includes('contiguous prefix'))).toContain('| 1 of 2 | – |');
});
