import { command } from './command.ts';
import { StepFailed } from './report.ts';

/** Part of the path of every test file that runs the conformance cases on profiles. */
export const CONFORMANCE_FILES: readonly string[] = ['test/conformance'];

/** Ids of cases by profile. */
export type Listed = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads profiles and cases from the names of the tests (`rabbitmq/ttl-buckets > S01 …`), without running one. */
export async function listCases(signal: AbortSignal): Promise<Listed> {
  // Profiles and cases are made in loops: they are known only after the files have been loaded.
  const flags = ['--json', '--no-static-parse', '--passWithNoTests'];
  const line = ['vitest', 'list', ...flags, ...CONFORMANCE_FILES];
  const { code, stdout, output } = await command(line, { signal });
  if (code !== 0) throw new StepFailed(`The cases cannot be listed; vitest says:\n${output}`);
  const start = stdout.indexOf('[');
  const listed = start < 0 ? [] : (JSON.parse(stdout.slice(start)) as { name: string }[]);
  return casesByProfile(listed.map(({ name }) => name));
}

/** Takes the profile and the id out of each name; names without both are no cases. */
export function casesByProfile(names: readonly string[]): Listed {
  const listed = new Map<string, Set<string>>();
  for (const name of names) {
    const profile = /(?:^|[\s>])([a-z]+\/[a-z][a-z-]*)(?=$|[\s>])/.exec(name)?.[1];
    const id = /(?:^|[\s>])([A-Z]\d{2})[a-z]?\b/.exec(name)?.[1];
    if (profile === undefined || id === undefined) continue;
    listed.set(profile, (listed.get(profile) ?? new Set()).add(id));
  }
  return listed;
}
