import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SeededBug } from './seeded-bug.ts';

/** The sources have changed under a seeded bug: its text is not there exactly once. */
export class StaleBug extends Error {
  override readonly name = 'StaleBug';
}

/** The text of the file with the bug in it. @throws StaleBug */
export function withBug({ id, file, find, replace }: SeededBug, source: string): string {
  const [before, after, ...more] = source.split(find) as [string, ...string[]];
  if (after === undefined) throw new StaleBug(`${id} is stale: ${file} has no\n${find}`);
  if (more.length > 0) {
    throw new StaleBug(`${id} is stale: ${file} has ${more.length + 1} times\n${find}`);
  }
  return before + replace + after;
}

/** Writes the bug into the copy of the sources at `root`; the answer takes it out. @throws StaleBug */
export function plant(root: string, bug: SeededBug): () => void {
  const file = join(root, bug.file);
  const sound = readFileSync(file, 'utf8');
  writeFileSync(file, withBug(bug, sound));
  return () => writeFileSync(file, sound);
}
