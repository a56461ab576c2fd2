import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What became of a case on a profile. */
export interface Verdict {
  readonly title: string;
  readonly verdict: 'passed' | 'failed' | 'skipped' | 'deviates';
  /** Of a skip or a deviation. */
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

export function writeResult(result: ProfileResult): void {
  mkdirSync(RESULTS, { recursive: true });
  const cases = Object.fromEntries(
    Object.entries(result.cases).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const file = `${RESULTS}${result.profile.replace('/', '-')}.json`;
  writeFileSync(file, `${JSON.stringify({ ...result, cases }, undefined, 2)}\n`);
}
