import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type ProfileResult, RESULTS, resultFile, type Verdict } from './results.ts';

/** Verdicts by profile and id of case, as they are committed. */
export type Verdicts = Readonly<Record<string, Readonly<Record<string, Verdict>>>>;

const FILE = fileURLToPath(new URL('../verdicts.json', import.meta.url));

export function readVerdicts(): Verdicts {
  return (readJson(FILE) ?? {}) as Verdicts;
}

/** What the last run of a profile gave; undefined when it gave nothing. */
export function readResult(profile: string): ProfileResult | undefined {
  return readJson(resultFile(profile)) as ProfileResult | undefined;
}

/** So that a run is not judged by the results of the one before. */
export function clearResults(): void {
  rmSync(RESULTS, { recursive: true, force: true });
}

/**
 * Puts the results of these profiles into the committed table.
 * @throws a profile gave no result, or has a case that failed or was not run.
 */
export function writeVerdicts(profiles: readonly string[]): void {
  const table: Record<string, Readonly<Record<string, Verdict>>> = { ...readVerdicts() };
  for (const profile of profiles) {
    const cases = readResult(profile)?.cases ?? {};
    const bad = Object.keys(cases).filter((id) => !isFinal(cases[id]));
    if (Object.keys(cases).length === 0 || bad.length > 0) {
      throw new Error(
        `${profile} is not written: ${bad.join(', ') || 'no case'} did not end well.`,
      );
    }
    table[profile] = cases;
  }
  const sorted = Object.fromEntries(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(FILE, `${JSON.stringify(sorted, undefined, 2)}\n`);
}

/**
 * How a run differs from the committed table, one line each. Measured figures may move; cases whose
 * servers were absent count as not compared.
 */
export function compareVerdicts(
  profile: string,
  committed: Verdicts[string] | undefined,
  result: ProfileResult | undefined,
): readonly string[] {
  const ran = Object.values(result?.cases ?? {}).some(({ verdict }) => verdict !== 'absent');
  if (!ran || result === undefined) return [`${profile} ran no case`];
  const ids = new Set([...Object.keys(committed ?? {}), ...Object.keys(result.cases)]);
  return [...ids].sort().flatMap((id) => {
    const found = result.cases[id];
    if (found?.verdict === 'absent') return [];
    const [before, after] = [shown(committed?.[id]), shown(found)];
    return before === after
      ? []
      : [`${profile} ${id}: the table says ${before}, this run ${after}`];
  });
}

const isFinal = (verdict: Verdict | undefined): boolean =>
  verdict?.verdict !== 'failed' && verdict?.verdict !== 'absent';

function shown(verdict: Verdict | undefined): string {
  if (verdict === undefined) return 'nothing';
  const { reason } = verdict;
  return `${verdict.verdict} "${verdict.title}"${reason === undefined ? '' : ` because ${reason}`}`;
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
