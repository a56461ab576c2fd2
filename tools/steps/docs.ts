import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { blockOf, codeOf, fileLinksOf } from '../docs/code-blocks.ts';
import { writeCode } from '../docs/code-folder.ts';
import { deadAnchors } from '../docs/dead-anchors.ts';
import { command } from './command.ts';
import { type Step, StepFailed } from './report.ts';

const QUICK_START = 'docs/guides/quick-start.md';

/** What keeps the pages honest: their code compiles, the quick start runs, no link is dead. */
export function docs(): Step[] {
  return [
    {
      name: 'docs: code of the pages type-checks (tsc)',
      mend: 'mend the ts block; what a page leaves out goes into a hidden `ts-setup` comment',
      run: async (signal) => {
        await checkTypes(signal);
        return undefined;
      },
    },
    {
      name: 'docs: the quick start runs and prints what it says',
      mend: `mend the code or the output in ${QUICK_START}`,
      run: async (signal) => {
        await runQuickStart(signal);
        return undefined;
      },
    },
    {
      name: 'docs: links and site (vitepress build)',
      mend: 'mend the links it names; `npm run docs:build` shows the whole output',
      run: async (signal) => {
        checkRootLinks();
        const { code, output } = await command(['vitepress', 'build', 'docs'], { signal });
        if (code !== 0) throw new StepFailed(output);
        const dead = deadAnchors('docs/.vitepress/dist');
        if (dead.length > 0) throw new StepFailed(dead.join('\n'));
        return undefined;
      },
    },
  ];
}

function rootPages(): string[] {
  return globSync(['*.md', 'packages/*/README.md']).sort();
}

async function checkTypes(signal: AbortSignal): Promise<void> {
  // CONTRIBUTING.md shows parts of tests, which are checked where they stand.
  const pages = ['README.md', ...globSync('docs/**/*.md')].map((page) =>
    page.replaceAll('\\', '/'),
  );
  const codes = pages.flatMap((page) => codeOf(page, readFileSync(page, 'utf8')));
  const folder = writeCode(codes);
  try {
    const line = ['tsc', '-p', folder.path, '--pretty', 'false'];
    const { code, output } = await command(line, { signal });
    if (code !== 0) throw new StepFailed(output);
    process.stdout.write(`  ${codes.length} files from ${pages.length} pages\n`);
  } finally {
    folder.remove();
  }
}

async function runQuickStart(signal: AbortSignal): Promise<void> {
  const markdown = readFileSync(QUICK_START, 'utf8');
  const [first] = codeOf(QUICK_START, markdown);
  if (first === undefined) throw new StepFailed(`  ${QUICK_START} has no ts block.`);
  const folder = writeCode([first]);
  try {
    const program = folder.pathOf(QUICK_START, first.file);
    const line = [process.execPath, '--conditions=@ackord/source', program];
    const { code, stdout, output } = await command(line, { signal });
    if (code !== 0) throw new StepFailed(output);
    const promised = sorted(blockOf(markdown, 'text') ?? '').join('\n');
    // Messages are handled side by side: the order of lines may differ.
    if (sorted(stdout).join('\n') !== promised) {
      throw new StepFailed(`  It printed:\n${stdout}\n  The page says:\n${promised}`);
    }
  } finally {
    folder.remove();
  }
}

function sorted(text: string): string[] {
  return text.trim().split(/\r?\n/).sort();
}

/** Pages of the site are checked by vitepress, those at the root are not part of it. */
function checkRootLinks(): void {
  const dead = rootPages().flatMap((page) =>
    fileLinksOf(readFileSync(page, 'utf8'))
      .filter((target) => !existsSync(join(dirname(page), target)))
      .map((target) => `  ${page}: ${target} does not exist`),
  );
  if (dead.length > 0) throw new StepFailed(dead.join('\n'));
}
