import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LINK = /<a [^>]*?href="([^"#:]*)#([^"]+)"/g;
const ID = / id="([^"]+)"/g;

/** Links of a built site whose heading does not exist; vitepress itself looks at pages only. */
export function deadAnchors(site: string): readonly string[] {
  const pages = new Map(
    globSync('**/*.html', { cwd: site }).map((file) => [
      `/${file.replaceAll('\\', '/').replace(/(?:index)?\.html$/, '')}`,
      readFileSync(join(site, file), 'utf8'),
    ]),
  );
  const ids = new Map([...pages].map(([path, html]) => [path, idsOf(html)]));
  return [...pages].flatMap(([from, html]) =>
    [...html.matchAll(LINK)]
      .map(([, path = '', id = '']) => ({ to: pathOf(path, from), id: decodeURI(id) }))
      .filter(({ to, id }) => ids.get(to)?.has(id) !== true)
      .map(({ to, id }) => `  ${from}: ${to}#${id} does not exist`),
  );
}

function pathOf(link: string, from: string): string {
  return link === '' ? from : new URL(link, `file://${from}`).pathname;
}

function idsOf(html: string): ReadonlySet<string> {
  return new Set([...html.matchAll(ID)].map(([, id = '']) => id));
}
