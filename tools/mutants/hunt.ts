import { plant, StaleBug } from './plant.ts';
import { type CaseRun, runCases } from './run-cases.ts';
import type { SeededBug } from './seeded-bug.ts';

/** Longest run of one bug; cases have deadlines of their own below it. */
const BUG_DEADLINE_MS = 180_000;
const SHOWN_CHARS = 160;

export type Ground = Pick<CaseRun, 'root' | 'env' | 'signal'>;

/** `unclear`: no case could judge it. */
export interface Hunted {
  readonly is: 'caught' | 'missed' | 'stale' | 'unclear';
  /** What its cases said. */
  readonly says: string;
}

/** Runs the cases of these bugs without any bug. Resolves to one line for each that does not pass. */
export async function unsound(
  ground: Ground,
  bugs: readonly SeededBug[],
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const profile of new Set(bugs.map((bug) => bug.profile))) {
    const own = bugs.filter((bug) => bug.profile === profile);
    const cases = [...new Set(own.flatMap((bug) => bug.cases))].sort();
    for (const [id, { is, says }] of await runCases({ ...ground, profile, cases })) {
      if (is !== 'passed') problems.push(`${profile} ${id} without a bug: ${is}. ${says}`);
    }
  }
  return problems;
}

/** Plants the bug, runs its cases and takes it out again. Caught: each of them failed. */
export async function hunt(ground: Ground, bug: SeededBug): Promise<Hunted> {
  const { profile, cases } = bug;
  let heal: () => void;
  try {
    heal = plant(ground.root, bug);
  } catch (error) {
    if (error instanceof StaleBug) return { is: 'stale', says: error.message };
    throw error;
  }
  try {
    const signal = AbortSignal.any([ground.signal, AbortSignal.timeout(BUG_DEADLINE_MS)]);
    const ends = await runCases({ ...ground, signal, profile, cases });
    const passed = cases.filter((id) => ends.get(id)?.is === 'passed');
    if (passed.length > 0) return { is: 'missed', says: `${passed.join(', ')} passed` };
    const absent = [...ends.values()].find(({ is }) => is === 'absent');
    if (absent !== undefined) return { is: 'unclear', says: absent.says };
    return { is: 'caught', says: [...ends.values()].map(({ says }) => short(says)).join(' / ') };
  } finally {
    heal();
  }
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line;
}
