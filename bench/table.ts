import type { Comparison } from './compare.ts';
import type { Measurement } from './trials/trial.ts';

const TITLES: Readonly<Record<Measurement, string>> = {
  publish: 'publish',
  inbox: 'Inbox path',
  consume: 'consume, no-op',
  core: 'core, memory',
};

const HEAD = ['', 'raw µs', 'ours µs', 'ratio', 'more µs', 'band', 'raw/s', 'ours/s', 'gate', ''];

/** CPU of a message as medians; rates are there to rank only. */
export function table(comparisons: readonly Comparison[]): string {
  const rows = [HEAD, ...comparisons.map(row)];
  const widths = HEAD.map((_, column) =>
    Math.max(...rows.map((cells) => (cells[column] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  return `${rows.map(line).join('\n')}\n`;
}

function row(found: Comparison): string[] {
  const { gate, pass, band, bandMicros } = found;
  const limit =
    gate === undefined
      ? 'none'
      : gate.by === 'ratio'
        ? `<= ${gate.limit}x + band`
        : `<= ${gate.limit} µs more + band`;
  return [
    TITLES[found.measurement],
    found.rawMicros.toFixed(1),
    found.oursMicros.toFixed(1),
    `${found.ratio.toFixed(2)}x`,
    found.moreMicros.toFixed(1),
    gate?.by === 'micros' ? `${bandMicros.toFixed(1)} µs` : `${(band * 100).toFixed(1)} %`,
    Math.round(found.rawRate).toString(),
    Math.round(found.oursRate).toString(),
    limit,
    pass === undefined ? 'information' : pass ? 'pass' : 'OVER',
  ];
}
