import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';

const PACKAGE = new URL('../../package.json', import.meta.url);
const CACHE = new URL('../../node_modules/.cache/ackord/', import.meta.url);

/**
 * Files of an empty database. Setting them up is most of a start (3 to 20 s, loading them 0.4 s), so
 * they are kept in `node_modules/.cache`, by the version of PGlite.
 */
export async function freshFiles(): Promise<Blob> {
  const { dependencies } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const name = `pglite-${dependencies['@electric-sql/pglite']}.tar`;
  const file = fileURLToPath(new URL(name, CACHE));
  return readKept(file) ?? (await setUp(file));
}

function readKept(file: string): Blob | undefined {
  try {
    return new Blob([readFileSync(file)]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function setUp(file: string): Promise<Blob> {
  const pglite = await PGlite.create();
  const files = await pglite.dumpDataDir('none');
  await pglite.close();
  mkdirSync(fileURLToPath(CACHE), { recursive: true });
  // Other test files may do the same at this moment: none of them may read half a file.
  const own = `${file}.${process.pid}`;
  writeFileSync(own, Buffer.from(await files.arrayBuffer()));
  renameSync(own, file);
  return files;
}
