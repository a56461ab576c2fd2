import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { program } from './checks.ts';
import { command } from './command.ts';
import { type Step, StepFailed } from './report.ts';

/** Builds, and checks each published package as the tarball that a user would install. */
export function packs(): Step[] {
  const build = program('build (tsc -b)', ['tsc', '-b', 'tsconfig.build.json'], {
    mend: 'mend the type errors; each package is built with its own tsconfig.json',
  });
  return [
    {
      ...build,
      run: (signal) => {
        // Files that have no source any more must not be packed.
        for (const dist of globSync('packages/*/dist')) rmSync(dist, { recursive: true });
        return build.run(signal);
      },
    },
    ...published().map(pack),
  ];
}

interface Published {
  readonly name: string;
  readonly folder: string;
}

function published(): Published[] {
  return globSync('packages/*/package.json')
    .map((file) => ({
      folder: dirname(file),
      ...(JSON.parse(readFileSync(file, 'utf8')) as { name: string; private?: boolean }),
    }))
    .filter((manifest) => !manifest.private)
    .sort((a, b) => a.name.localeCompare(b.name));
}

function pack({ name, folder }: Published): Step {
  return {
    name: `pack ${name} (publint, attw)`,
    mend: `mend the exports and files of ${folder}/package.json`,
    run: async (signal) => {
      if (!existsSync(join(folder, 'dist/index.js'))) {
        throw new StepFailed('  There is nothing to pack: the build made no dist/index.js.');
      }
      const target = mkdtempSync(join(tmpdir(), 'ackord-pack-'));
      const must = async (line: readonly string[], cwd?: string): Promise<void> => {
        const { code, output } = await command(line, { signal, ...(cwd ? { cwd } : {}) });
        if (code !== 0) throw new StepFailed(output);
      };
      try {
        await must(['pnpm', 'pack', '--pack-destination', target], folder);
        const [tarball] = globSync(join(target, '*.tgz'));
        if (!tarball) throw new StepFailed('  pnpm pack made no tarball.');
        await must(['publint', 'run', tarball, '--strict']);
        await must([
          'attw',
          tarball,
          '--profile',
          'esm-only',
          '--no-definitely-typed',
          '--no-color',
        ]);
      } finally {
        rmSync(target, { recursive: true, force: true });
      }
      return undefined;
    },
  };
}
