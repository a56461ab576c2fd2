import { expect, it } from 'vitest';
import { withBug } from '../../mutants/plant.ts';
import type { SeededBug } from '../../mutants/seeded-bug.ts';

const bug: SeededBug = {
  id: 'ack-early',
  title: 'acks before the effect',
  file: 'src/run.ts',
  find: 'ack();',
  replace: 'ack("$&");',
  profile: 'broker/mechanism',
  cases: ['S01'],
};

it('replaces the text as it stands, without patterns', () => {
  expect(withBug(bug, 'run();\nack();\n')).toBe('run();\nack("$&");\n');
});

it.each([
  ['no', 'run();\n', /ack-early is stale: src\/run\.ts has no\nack\(\);/],
  ['two', 'ack();\nack();\n', /ack-early is stale: src\/run\.ts has 2 times\nack\(\);/],
])('refuses sources with %s such text, naming bug and file', (_, source, message) => {
  expect(() => withBug(bug, source)).toThrow(message);
});
