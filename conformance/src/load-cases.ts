import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ConformanceCase } from './case.ts';

const FOLDER = new URL('./cases/', import.meta.url);

/** Every case that a file of `cases/` exports, by id. @throws an id is there twice or malformed. */
export async function loadCases(): Promise<readonly ConformanceCase[]> {
  const cases = new Map<string, ConformanceCase>();
  for (const file of readdirSync(fileURLToPath(FOLDER)).sort()) {
    if (!/^[a-z][a-z0-9-]*\.ts$/.test(file)) continue;
    const module = (await import(new URL(file, FOLDER).href)) as Record<string, unknown>;
    for (const each of Object.values(module).filter(isCase)) {
      if (!/^[A-Z]\d{2}[a-z]?$/.test(each.id))
        throw new Error(`${file}: "${each.id}" is no id of a case.`);
      if (cases.has(each.id)) throw new Error(`${file}: the case ${each.id} is there twice.`);
      cases.set(each.id, each);
    }
  }
  return [...cases.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function isCase(value: unknown): value is ConformanceCase {
  return typeof value === 'object' && value !== null && 'id' in value && 'run' in value;
}
