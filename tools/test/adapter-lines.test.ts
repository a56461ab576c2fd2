import { expect, it } from 'vitest';
import { brokerNames, linesOfCode } from '../steps/adapter-lines.ts';

it('finds a broker named in code, with its line', () => {
  const source =
    "/* one\ntwo */\nconst url = 'https://x';\nif (driver.broker === 'RabbitMQ') retry();";
  expect(brokerNames(source)).toEqual([
    { line: 4, text: "if (driver.broker === 'RabbitMQ') retry();" },
  ]);
});

it.each([
  '// Kafka counts offsets from 0.',
  '/** SQS counts whole seconds. */',
  "const text = 'nothing'; // as in NATS 2.15",
  'const coordinates = 1;',
])('lets pass: %s', (source) => {
  expect(brokerNames(source)).toEqual([]);
});

it('counts lines of code, without blanks and comment lines', () => {
  const source =
    "/**\n * About.\n */\n\nconst url = 'https://x'; // where\n  // why\n/* one */ const b = 1;\n\t\nrun();\n";
  expect(linesOfCode(source)).toBe(3);
});
