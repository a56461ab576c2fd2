import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { command } from '../steps/command.ts';
import { CONFORMANCE_FILES } from '../steps/list-cases.ts';

/** What became of a case; `absent`: it was not run. */
export interface CaseEnd {
  readonly is: 'passed' | 'failed' | 'absent';
  /** The first line of its failure, the reason of a skip, or why nothing was run. */
  readonly says: string;
}

export interface CaseRun {
  /** Sources to run. */
  readonly root: string;
  readonly profile: string;
  readonly cases: readonly string[];
  /** Hands brokers over. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** vitest's JSON report, as far as it is read. */
interface VitestReport {
  readonly testResults: readonly {
    readonly message?: string;
    readonly assertionResults: readonly TestReport[];
  }[];
}

interface TestReport {
  readonly title: string;
  readonly status: string;
  readonly failureMessages?: readonly string[] | null;
}

/** Runs exactly these cases as `npm run conformance` does, without their variants. One end for each. */
export async function runCases(run: CaseRun): Promise<ReadonlyMap<string, CaseEnd>> {
  const { root, profile, cases, env, signal } = run;
  const file = join(root, 'mutants-report.json');
  rmSync(file, { force: true });
  const [broker] = profile.split('/');
  const line = ['vitest', 'run', '--reporter=json', `--outputFile=${file}`];
  line.push(`--testNamePattern=\\b(?:${cases.join('|')}) `);
  line.push(...CONFORMANCE_FILES.map((part) => `packages/${broker}/${part}`));
  const chosen = { ACKORD_PROFILE: profile, ACKORD_CASE: cases.join(',') };
  const { code, output } = await command(line, {
    cwd: root,
    signal,
    env: { ...env, ...chosen, ACKORD_TOTALS_FILE: '' },
  });
  return endsOf(read(file), cases, `vitest ended with ${code}: ${output.trim()}`);
}

/** @param none - What is said when vitest gave no report. */
export function endsOf(
  report: VitestReport | undefined,
  cases: readonly string[],
  none: string,
): ReadonlyMap<string, CaseEnd> {
  const files = report?.testResults ?? [];
  const tests = files.flatMap(({ assertionResults }) => assertionResults);
  // A file that cannot be loaded has a message and no tests.
  const trouble = files.map(({ message }) => message).find((text) => text);
  return new Map(
    cases.map((id) => {
      const test = tests.find(({ title }) => title.startsWith(`${id} `));
      const end: CaseEnd = test ? endOf(test) : { is: 'absent', says: trouble ?? none };
      return [id, end];
    }),
  );
}

function endOf({ status, failureMessages }: TestReport): CaseEnd {
  if (status === 'passed') return { is: 'passed', says: '' };
  if (status !== 'failed') return { is: 'absent', says: `the case was ${status}` };
  return { is: 'failed', says: firstLines(failureMessages?.join('\n') ?? '') };
}

/** Without the stack and the history that follow. */
function firstLines(text: string): string {
  const [said = ''] = text.split(/\n\s+at |\n\nHistory of /);
  return said.trim();
}

function read(file: string): VitestReport | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as VitestReport;
  } catch (error) {
    // Written at the end of a run: none means that it did not get there.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
