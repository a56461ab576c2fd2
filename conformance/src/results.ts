import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What became of a case on a profile. */
export interface Verdict {
  readonly title: string;
  /** `absent`: its servers could not be had, so nothing is known. */
  readonly verdict: 'passed' | 'failed' | 'skipped' | 'deviates' | 'absent';
  /** Of a skip, a deviation or an absence. */
  readonly reason?: string;
  /** Measured in this run; may differ in the next. */
  readonly figures?: Readonly<Record<string, number>>;
}

export interface ProfileResult {
  readonly profile: string;
  /** By id. */
  readonly cases: Readonly<Record<string, Verdict>>;
}

/** One file per profile; not committed. */
export const RESULTS: string = fileURLToPath(new URL('../results/', import.meta.url));

export function resultFile(profile: string): string {
  return `${RESULTS}${profile.replace('/', '-')}.json`;
}

export function writeResult(result: ProfileResult): void {
  mkdirSync(RESULTS, { recursive: true });
  const cases = Object.fromEntries(
    Object.entries(result.cases).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  writeFileSync(
    resultFile(result.profile),
    `${JSON.stringify({ ...result, cases }, undefined, 2)}\n`,
  );
}
