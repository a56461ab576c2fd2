import { globSync, readFileSync } from 'node:fs';
import { StepFailed } from './report.ts';

/** Lines of code of an adapter, without blanks and comment lines: retry, parking, leases and the like belong to core. */
const MAX_LINES = 1_000;
/** Packages that are no adapter of a broker. */
const NO_ADAPTER = new Set(['core', 'memory', 'postgres', 'cli', 'console']);
/** Packages whose code must work with every broker. */
const NEUTRAL = ['core', 'postgres'];
const BROKER_NAME = /rabbit|amqp|kafka|jetstream|nats|sqs/i;
/** A string (kept) or a comment (dropped). */
const STRING_OR_COMMENT = /(["'`])(?:\\[\s\S]|(?!\1)[^\\])*\1|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;

/** Prints the size of each adapter; throws when one is too large or when core or postgres names a broker in code. */
export function checkAdapters(): void {
  const faults: string[] = [];
  for (const [name, lines] of adapterLines()) {
    process.stdout.write(
      `  ${name}: ${lines} lines of code of ${MAX_LINES} (blank and comment lines are not counted)\n`,
    );
    if (lines > MAX_LINES)
      faults.push(`  packages/${name}/src has ${lines} lines of code, over ${MAX_LINES}.`);
  }
  for (const file of NEUTRAL.flatMap((name) => globSync(`packages/${name}/src/**/*.ts`))) {
    for (const { line, text } of brokerNames(readFileSync(file, 'utf8'))) {
      faults.push(`  ${file}:${line} names a broker: ${text}`);
    }
  }
  if (faults.length > 0) throw new StepFailed(faults.join('\n'));
}

function adapterLines(): Map<string, number> {
  const lines = new Map<string, number>();
  for (const file of globSync('packages/*/src/**/*.ts')) {
    const name = file.split(/[\\/]/)[1] ?? '';
    if (NO_ADAPTER.has(name)) continue;
    lines.set(name, (lines.get(name) ?? 0) + linesOfCode(readFileSync(file, 'utf8')));
  }
  return lines;
}

/** Lines that hold code: neither blank nor only a comment. */
export function linesOfCode(source: string): number {
  return withoutComments(source)
    .split('\n')
    .filter((line) => line.trim() !== '').length;
}

/** Lines of code that name a broker; comments may, where they give the source of a fact. */
export function brokerNames(source: string): { readonly line: number; readonly text: string }[] {
  return withoutComments(source)
    .split('\n')
    .map((text, index) => ({ line: index + 1, text: text.trim() }))
    .filter(({ text }) => BROKER_NAME.test(text));
}

function withoutComments(source: string): string {
  return source.replace(STRING_OR_COMMENT, (part) =>
    // Line breaks stay, so that line numbers do.
    part.startsWith('/') ? part.replace(/[^\n]/g, '') : part,
  );
}
