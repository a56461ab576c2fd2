import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { deadAnchors } from '../docs/dead-anchors.ts';

it('names links whose heading does not exist', () => {
  const site = mkdtempSync(join(tmpdir(), 'ackord-site-'));
  try {
    mkdirSync(join(site, 'guides'));
    writeFileSync(
      join(site, 'guides/a.html'),
      '<h2 id="one"></h2><a href="#one"></a><a href="./../b#two"></a><a href="./../b#three"></a>',
    );
    writeFileSync(join(site, 'b.html'), '<h2 id="two"></h2><a href="https://example.org/#x"></a>');
    expect(deadAnchors(site)).toEqual(['  /guides/a: /b#three does not exist']);
  } finally {
    rmSync(site, { recursive: true, force: true });
  }
});
