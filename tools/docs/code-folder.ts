import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { PageCode } from './code-blocks.ts';

/** Has every package that pages import: the adapters, zod, pg, PGlite. */
const PACKAGES = 'examples/orders/node_modules';

/** As strict as a user may be. Types of Node come from the root. */
const COMPILER_OPTIONS = {
  target: 'es2024',
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  customConditions: ['@ackord/source'],
  types: ['node'],
  typeRoots: [resolve('node_modules/@types')],
};

/** Code of pages in a folder of its own outside the repository, one folder per page. */
export interface CodeFolder {
  readonly path: string;
  /** Where a file of a page lies. */
  pathOf(page: string, file: string): string;
  remove(): void;
}

export function writeCode(codes: readonly PageCode[]): CodeFolder {
  const path = mkdtempSync(join(tmpdir(), 'ackord-docs-'));
  const pathOf = (page: string, file: string): string =>
    join(path, page.replaceAll(/[/.]/g, '-'), file);
  symlinkSync(resolve(PACKAGES), join(path, 'node_modules'), 'junction');
  writeJson(join(path, 'package.json'), { type: 'module' });
  writeJson(join(path, 'tsconfig.json'), { compilerOptions: COMPILER_OPTIONS });
  for (const { page, file, code } of codes) {
    mkdirSync(join(pathOf(page, file), '..'), { recursive: true });
    writeFileSync(pathOf(page, file), code);
  }
  return { path, pathOf, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, JSON.stringify(value));
}
