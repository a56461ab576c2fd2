// `npm run mutants`: seeded bugs, each of which a conformance case on the real broker must catch.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BrokerUnavailable } from '@ackord/conformance/launchers';
import { copyTree } from './mutants/copy-tree.ts';
import { type Ground, hunt, unsound } from './mutants/hunt.ts';
import type { SeededBug } from './mutants/seeded-bug.ts';
import { SEEDED_BUGS } from './mutants/seeded-bugs.ts';
import { startBrokers } from './steps/brokers.ts';
import { interrupt } from './steps/interrupt.ts';
import { StepFailed } from './steps/report.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Under the name of the bug. */
const INDENT = `\n${' '.repeat(9)}`;

const HELP = `npm run mutants [-- [--only ID]… [--list]]

Puts one seeded bug after the other into a copy of the sources and runs the conformance cases that must catch it on the
real broker. First the same cases run without a bug and must pass. One line for each bug, then: N caught, N missed

  --only ID   only this bug; may be given more than once
  --list      prints the bugs with their files and cases, and runs nothing
  --help      this text

Exit code 1: a bug was missed, its text is not in the sources any more, or a case did not run. A new bug goes into
tools/mutants/*-bugs.ts.
`;

const chosen = parse();
const signal = interrupt();
try {
  process.exit(await main(chosen));
} catch (error) {
  if (!(error instanceof StepFailed || error instanceof BrokerUnavailable)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

async function main(bugs: readonly SeededBug[]): Promise<number> {
  const startedAt = performance.now();
  const brokers = await startBrokers(signal);
  const { env } = brokers;
  try {
    const tree = await copyTree(ROOT, signal);
    try {
      return await huntAll({ root: tree.root, env, signal }, bugs, startedAt);
    } finally {
      tree.remove();
    }
  } finally {
    await brokers.remove();
  }
}

async function huntAll(
  ground: Ground,
  bugs: readonly SeededBug[],
  startedAt: number,
): Promise<number> {
  const soundAt = performance.now();
  const problems = await unsound(ground, bugs);
  if (signal.aborted) return stopped();
  if (problems.length > 0) {
    throw new StepFailed(`Cases must pass without a bug first:\n  ${problems.join('\n  ')}`);
  }
  process.stdout.write(`sound    without a bug all cases pass, ${seconds(soundAt)}\n`);
  let caught = 0;
  for (const bug of bugs) {
    const bugAt = performance.now();
    const { is, says } = await hunt(ground, bug);
    if (signal.aborted) return stopped();
    if (is === 'caught') caught += 1;
    const head = `${is.padEnd(8)} ${bug.id}, ${seconds(bugAt)}: ${bug.title}`;
    const said = `${bug.cases.join(', ')}: ${says}`.trimEnd().replaceAll('\n', INDENT);
    process.stdout.write(`${head}${INDENT}${said}\n`);
  }
  const missed = bugs.length - caught;
  process.stdout.write(`\nTook ${seconds(startedAt)}.\n${caught} caught, ${missed} missed\n`);
  return missed > 0 ? 1 : 0;
}

function stopped(): number {
  process.stdout.write('Stopped before the end.\n');
  return 130;
}

function seconds(sinceMs: number): string {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
}

function list(): string {
  const lines = SEEDED_BUGS.map(
    ({ id, title, file, profile, cases }) =>
      `${id}: ${title}\n    ${file}, ${profile} ${cases.join(' ')}`,
  );
  return `${lines.join('\n')}\n`;
}

function parse(): readonly SeededBug[] {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string', multiple: true },
        list: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
    if (values.help || values.list) {
      process.stdout.write(values.help ? HELP : list());
      process.exit(0);
    }
    const only = values.only;
    const unknown = only?.find((id) => !SEEDED_BUGS.some((bug) => bug.id === id));
    if (unknown !== undefined) {
      throw new Error(`There is no seeded bug "${unknown}"; --list shows all.`);
    }
    return SEEDED_BUGS.filter(({ id }) => only?.includes(id) ?? true);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
    process.exit(2);
  }
}
