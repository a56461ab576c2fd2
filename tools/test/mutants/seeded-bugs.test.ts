import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadCases } from '@ackord/conformance';
import { expect, it } from 'vitest';
import { withBug } from '../../mutants/plant.ts';
import { SEEDED_BUGS } from '../../mutants/seeded-bugs.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const bugs = SEEDED_BUGS.map((bug) => [bug.id, bug] as const);

it.each(bugs)('%s fits the sources exactly once and changes them', (_, bug) => {
  const source = readFileSync(`${ROOT}${bug.file}`, 'utf8');
  expect(withBug(bug, source)).not.toBe(source);
});

it('names cases that exist, on profiles of real brokers', async () => {
  const known = new Set((await loadCases()).map(({ id }) => id));
  for (const { id, cases, profile } of SEEDED_BUGS) {
    expect(cases.length, id).toBeGreaterThan(0);
    expect(
      cases.filter((each) => !known.has(each)),
      id,
    ).toEqual([]);
    expect(profile, id).not.toMatch(/^memory\//);
    const suite = `${ROOT}packages/${profile.split('/')[0]}/test/conformance.broker.test.ts`;
    expect(existsSync(suite), id).toBe(true);
  }
});

it('gives each bug an id of its own', () => {
  const ids = SEEDED_BUGS.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)]);
  expect(ids.filter((id) => !/^[a-z]+(-[a-z]+)+$/.test(id))).toEqual([]);
});
