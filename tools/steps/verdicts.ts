import {
  clearResults,
  compareVerdicts,
  readResult,
  readVerdicts,
} from '@ackord/conformance/verdicts';
import { listCases } from './list-cases.ts';
import { type Step, StepFailed } from './report.ts';

/** Forgets earlier results; compares them with the table once the tests have run. */
export function forgetResults(): void {
  clearResults();
}

/**
 * Fails when a profile ran no case or a verdict differs from the committed table.
 * `memory`: profiles that need no broker; `broker`: the others; `absent`: why those cannot run.
 */
export function verdicts(kind: 'memory' | 'broker', absent: () => boolean = () => false): Step {
  return {
    name: `verdicts of ${kind} profiles`,
    mend: 'find out why; if it is meant so, `npm run conformance -- --write-verdicts`',
    run: async (signal) => {
      if (absent()) {
        process.stdout.write('  not compared: there are no brokers\n');
        return { passed: 0, failed: 0, skipped: 1 };
      }
      const committed = readVerdicts();
      const known = [...Object.keys(committed), ...(await listCases(signal)).keys()];
      const profiles = [...new Set(known)].filter(
        (profile) => profile.startsWith('memory/') === (kind === 'memory'),
      );
      const lines = profiles.flatMap((profile) =>
        compareVerdicts(profile, committed[profile], readResult(profile)),
      );
      if (lines.length > 0) throw new StepFailed(lines.map((line) => `  ${line}`).join('\n'));
      for (const profile of profiles) process.stdout.write(`  ${counted(profile)}\n`);
      return undefined;
    },
  };
}

/** `memory/queue: 41 passed, 2 skipped`. */
function counted(profile: string): string {
  const counts = new Map<string, number>();
  for (const { verdict } of Object.values(readResult(profile)?.cases ?? {})) {
    counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  }
  return `${profile}: ${[...counts].map(([verdict, count]) => `${count} ${verdict}`).join(', ')}`;
}
