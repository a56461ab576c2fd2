import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { command } from '../steps/command.ts';
import { StepFailed } from '../steps/report.ts';

/** Sources that may be changed. */
interface CopiedTree {
  readonly root: string;
  remove(): void;
}

/** Links of packages to each other: they must lead to the copy, all others to what is installed. */
const OWN_SCOPE = '@ackord';

/** Copies the working tree as it is, untracked files included, into a temporary folder where its tests can be run. */
export async function copyTree(from: string, signal: AbortSignal): Promise<CopiedTree> {
  const listed = ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { code, stdout, output } = await command(listed, { cwd: from, signal });
  if (code !== 0) throw new StepFailed(`The sources cannot be listed; git says:\n${output}`);
  const root = mkdtempSync(join(tmpdir(), 'ackord-mutants-'));
  // A file that was deleted and not committed is still listed.
  const files = stdout.split('\0').filter((file) => file !== '' && existsSync(join(from, file)));
  for (const file of files) copyFile(join(from, file), join(root, file));
  for (const folder of new Set(files.filter(isManifest).map(dirname))) {
    linkPackages(join(from, folder, 'node_modules'), join(root, folder, 'node_modules'));
  }
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
}

const isManifest = (file: string): boolean => file.split('/').at(-1) === 'package.json';

function copyFile(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  if (lstatSync(from).isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else copyFileSync(from, to);
}

function linkPackages(from: string, to: string): void {
  if (!existsSync(from)) return;
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    // Caches and stamps of the original, but the pinned programs are wanted.
    if (name.startsWith('.') && name !== '.bin') continue;
    if (name === OWN_SCOPE) linkOwn(join(from, name), join(to, name));
    else symlinkSync(resolve(from, name), join(to, name));
  }
}

/** They are relative, and as such lead to the neighbours in the copy. */
function linkOwn(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) symlinkSync(readlinkSync(join(from, name)), join(to, name));
}
