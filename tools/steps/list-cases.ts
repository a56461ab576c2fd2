import { command } from './command.ts';
import { StepFailed } from './report.ts';

/** Part of the path of every test file that runs the conformance cases on profiles. */
export const CONFORMANCE_FILES: readonly string[] = ['test/conformance'];

/** Profile → id of a case, variants (`S01b`) under that of their case → its titles. */
export type Listed = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

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
  const listed = new Map<string, Map<string, string[]>>();
  for (const name of names) {
    const profile = /(?:^|[\s>])([a-z]+\/[a-z][a-z-]*)(?=$|[\s>])/.exec(name)?.[1];
    const [, title, id] = /(?:^|[\s>])(([A-Z]\d{2})[a-z]?\b.*)$/.exec(name) ?? [];
    if (profile === undefined || title === undefined || id === undefined) continue;
    const cases = listed.get(profile) ?? new Map<string, string[]>();
    listed.set(profile, cases.set(id, [...(cases.get(id) ?? []), title]));
  }
  return listed;
}

/** The ids of each profile, a line each. */
export function profilesText(listed: Listed): string {
  const lines = [...listed].map(
    ([profile, cases]) => `  ${profile}: ${[...cases.keys()].sort().join(' ')}`,
  );
  return `Known profiles and their cases:\n${lines.sort().join('\n') || '  none'}\n`;
}

/** What each case shows, a line each. */
export function titlesText(listed: Listed): string {
  const titles = new Set([...listed.values()].flatMap((cases) => [...cases.values()].flat()));
  return [...titles]
    .sort()
    .map((title) => `  ${title}\n`)
    .join('');
}
