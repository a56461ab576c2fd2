/** A TypeScript file that the code blocks of one page make up. */
export interface PageCode {
  /** Of the page, relative to the root. */
  readonly page: string;
  /** As the page names it; a page that names none has one file of its own name. */
  readonly file: string;
  readonly code: string;
}

/** ` ```ts ` at the start of a line up to its closing fence. */
const BLOCK = /^```(\S*)[^\n]*\n([\s\S]*?)^```[ \t]*$/gm;
/** Declarations that a page leaves out and its code needs; hidden from readers. */
const SETUP = /^<!-- ts-setup\n([\s\S]*?)^-->[ \t]*$/gm;
/** The first line of a block that begins another file: `// shop.ts`. */
const FILE = /^\/\/ ([a-z][a-z0-9-]*\.ts)\n/;

/**
 * The `ts` blocks of a Markdown page. They continue one another, so that a page can be read and
 * checked from top to bottom; a first line such as `// shop.ts` begins another file.
 */
export function codeOf(page: string, markdown: string): readonly PageCode[] {
  const files = new Map<string, string>();
  let file = `${page.replace(/\.md$/, '').replaceAll('/', '-').toLowerCase()}.ts`;
  const setup = [...markdown.matchAll(SETUP)].map(([, code = '']) => code).join('');
  for (const [, language, code = ''] of markdown.matchAll(BLOCK)) {
    if (language !== 'ts') continue;
    file = FILE.exec(code)?.[1] ?? file;
    files.set(file, (files.get(file) ?? '') + code);
  }
  return [...files].map(([name, code]) => ({
    page,
    file: name,
    // An empty export makes a module of a file that imports nothing.
    code: `${setup}${code}export {};\n`,
  }));
}

/** The text of the first block of a language, for example what a program prints. */
export function blockOf(markdown: string, language: string): string | undefined {
  for (const [, found, text] of markdown.matchAll(BLOCK)) if (found === language) return text;
  return undefined;
}

/** Links of a Markdown page to files of the repository, anchors left out. */
export function fileLinksOf(markdown: string): readonly string[] {
  const text = markdown.replace(BLOCK, '').replace(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target));
}
