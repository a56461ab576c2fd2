import { describe, expect, it } from 'vitest';
import { blockOf, codeOf, fileLinksOf } from '../docs/code-blocks.ts';

const block = (language: string, ...lines: string[]): string =>
  ['```'.concat(language), ...lines, '```', ''].join('\n');

describe('codeOf', () => {
  it('joins the ts blocks of a page and leaves other languages out', () => {
    const page = `${block('ts', 'const a = 1;')}\ntext\n${block('sh', 'ls')}${block('ts', 'a;')}`;
    expect(codeOf('README.md', page)).toEqual([
      { page: 'README.md', file: 'readme.ts', code: 'const a = 1;\na;\nexport {};\n' },
    ]);
  });

  it('begins another file at a block whose first line names one', () => {
    const page = block('ts', '// shop.ts', 'one;') + block('ts', 'two;') + block('ts', '// b.ts');
    expect(codeOf('docs/guides/x.md', page).map(({ file, code }) => [file, code])).toEqual([
      ['shop.ts', '// shop.ts\none;\ntwo;\nexport {};\n'],
      ['b.ts', '// b.ts\nexport {};\n'],
    ]);
  });

  it('puts hidden declarations first', () => {
    const page = `<!-- ts-setup\ndeclare const bus: string;\n-->\n${block('ts', 'bus;')}`;
    expect(codeOf('docs/a.md', page)[0]).toEqual({
      page: 'docs/a.md',
      file: 'docs-a.ts',
      code: 'declare const bus: string;\nbus;\nexport {};\n',
    });
  });

  it('finds nothing in a page without ts blocks', () => {
    expect(codeOf('a.md', block('json', '{}'))).toEqual([]);
  });
});

it('gives the first block of a language', () => {
  expect(blockOf(block('sh', 'ls') + block('text', 'out'), 'text')).toBe('out\n');
  expect(blockOf('', 'text')).toBeUndefined();
});

it('lists links to files, without anchors, addresses and code', () => {
  const page = `[a](docs/a.md#b) [c](https://example.org) [d](#e) \`[f](g)\`\n${block('sh', '[h](i)')}`;
  expect(fileLinksOf(page)).toEqual(['docs/a.md']);
});
