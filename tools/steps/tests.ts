import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Totals } from '../closing-line.ts';
import { command } from './command.ts';
import { type Step, StepFailed } from './report.ts';

/** One vitest project; its tests enter the totals one by one. */
export function tests(
  project: string,
  mend: string,
  env: () => NodeJS.ProcessEnv = () => ({}),
): Step {
  return {
    name: `${project} tests (vitest)`,
    mend,
    run: (signal) => vitest(['--project', project], env(), signal),
  };
}

/** Runs vitest with its output shown and resolves to its totals. Throws when it ended badly without a failed test. */
async function vitest(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Totals> {
  const folder = mkdtempSync(join(tmpdir(), 'ackord-totals-'));
  const file = join(folder, 'totals.json');
  try {
    const { code } = await command(['vitest', 'run', ...args], {
      live: true,
      signal,
      env: { ...env, ACKORD_TOTALS_FILE: file },
    });
    const totals = read(file);
    if (totals === undefined || (code !== 0 && totals.failed === 0)) {
      throw new StepFailed(`  vitest ended with ${code}; its output above says why.`);
    }
    return totals;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function read(file: string): Totals | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Totals;
  } catch (error) {
    // vitest writes it at its end: none means that it did not get there.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
