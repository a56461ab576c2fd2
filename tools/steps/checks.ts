import { globSync } from 'node:fs';
import { checkAdapters } from './adapter-lines.ts';
import { command } from './command.ts';
import { docs } from './docs.ts';
import { guaranteesCheck } from './guarantees.ts';
import { type Step, StepFailed } from './report.ts';

/** Folders whose imports are checked. */
const CRUISED = ['packages', 'conformance', 'examples', 'bench', 'tools'];

/** Lines of a failed program that are shown. */
const MAX_OUTPUT_LINES = 60;

/** Checks without tests, cheap ones first. The frozen install came before: tools/run.mjs does it. */
export function checks(): Step[] {
  return [
    program('format and lint (biome)', ['biome', 'ci', '--colors=off', '--reporter=summary', '.'], {
      mend: 'run `npm run format`, and mend what it cannot',
    }),
    program('lost promises (oxlint)', ['oxlint', '--deny-warnings'], {
      mend: 'await, return or hand over each promise it names',
    }),
    program('types (tsc)', ['tsc', '-p', 'tsconfig.json', '--pretty', 'false'], {
      mend: 'mend the type errors; *.test-d.ts files are checked here too',
    }),
    // The packages have stricter settings than the whole: every export states its type.
    program('types of each package as it is built (tsc -b)', ['tsc', '-b', 'tsconfig.build.json'], {
      mend: 'mend the type errors, the first one first; with TS9012 write the type out',
    }),
    importDirections(),
    program('unused files, exports, dependencies (knip)', ['knip', '--no-progress'], {
      mend: 'remove what nothing uses, or export it from an entry',
    }),
    {
      name: 'adapters: size, and no broker in core',
      mend: 'move policy to core, and names of brokers out of it (CONTRIBUTING.md, Layout)',
      run: async () => {
        checkAdapters();
        return undefined;
      },
    },
    guaranteesCheck(),
    ...docs(),
  ];
}

/** A step that runs one program and shows its output only when it fails. */
export function program(
  name: string,
  line: readonly string[],
  options: { readonly mend: string },
): Step {
  return {
    name,
    mend: options.mend,
    run: async (signal) => {
      const { code, output } = await command(line, { signal });
      if (code !== 0) throw new StepFailed(firstLines(output, line));
      return undefined;
    },
  };
}

/** Enough to see what is wrong; one cause often makes hundreds of lines. */
function firstLines(output: string, line: readonly string[]): string {
  const lines = output.trimEnd().split('\n');
  if (lines.length <= MAX_OUTPUT_LINES) return lines.join('\n');
  const rest = lines.length - MAX_OUTPUT_LINES;
  const shown = lines.slice(0, MAX_OUTPUT_LINES).join('\n');
  return `${shown}\n  … and ${rest} lines more, by: npm run exec -- ${line.join(' ')}`;
}

interface Cruise {
  readonly summary: {
    readonly totalCruised: number;
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
    }[];
  };
}

function importDirections(): Step {
  return {
    name: 'import directions (dependency-cruiser)',
    mend: 'follow the import table in CONTRIBUTING.md',
    run: async (signal) => {
      const line = ['depcruise', '--config', '.dependency-cruiser.mjs', '-T', 'json', ...CRUISED];
      const { stdout, output } = await command(line, { signal });
      if (!stdout.startsWith('{')) throw new StepFailed(output);
      const { totalCruised, violations } = (JSON.parse(stdout) as Cruise).summary;
      if (violations.length > 0) {
        throw new StepFailed(
          violations.map(({ rule, from, to }) => `  ${rule.name}: ${from} -> ${to}`).join('\n'),
        );
      }
      // Without a TypeScript it can use, dependency-cruiser reads nothing and is content.
      const sources = globSync('packages/*/src/**/*.ts').length;
      if (totalCruised < sources) {
        throw new StepFailed(
          `  It read ${totalCruised} modules, but there are ${sources} sources.`,
        );
      }
      return undefined;
    },
  };
}
