import type { ConformanceCase } from './case.ts';
import type { Deviation, Profile } from './profile.ts';

/** How a case is run on a profile. */
export interface Planned {
  readonly each: ConformanceCase;
  /** Side by side with others, on servers of its own, or last by itself. */
  readonly group: 'shared' | 'isolated' | 'alone';
  /** Why it is not run. */
  readonly skip?: string;
  /** Why it must fail. */
  readonly deviation?: string;
}

/** @throws a skip or deviation without reason or source, or for a case that does not exist. */
export function planCases(profile: Profile, cases: readonly ConformanceCase[]): readonly Planned[] {
  const known = new Set(cases.map(({ id }) => id));
  for (const given of [...(profile.skips ?? []), ...(profile.deviations ?? [])]) {
    refuse(profile, given, known);
  }
  return cases.map((each): Planned => {
    const skip = skipOf(profile, each);
    const deviation = profile.deviations?.find((given) => given.cases.includes(each.id));
    return {
      each,
      group: groupOf(each),
      ...(skip !== undefined && { skip }),
      ...(deviation && { deviation: `${deviation.reason} (${deviation.source})` }),
    };
  });
}

function refuse(profile: Profile, given: Deviation, known: ReadonlySet<string>): void {
  const { cases, reason, source } = given;
  const shown = cases.join(', ') || 'a skip of no case';
  if (reason.trim() === '' || source.trim() === '' || cases.length === 0) {
    throw new Error(`${profile.name}: ${shown} needs a reason and its source.`);
  }
  const absent = cases.find((id) => !known.has(id));
  if (absent) throw new Error(`${profile.name}: there is no case ${absent} to skip.`);
}

function skipOf(profile: Profile, { id, needs = [] }: ConformanceCase): string | undefined {
  const skip = profile.skips?.find(({ cases }) => cases.includes(id));
  if (skip) return `${skip.reason} (${skip.source})`;
  return needs.map((need) => profile.lacks?.[need]).find((reason) => reason !== undefined);
}

function groupOf({ alone, needs = [] }: ConformanceCase): Planned['group'] {
  if (alone) return 'alone';
  return needs.includes('server') || needs.includes('database') ? 'isolated' : 'shared';
}
