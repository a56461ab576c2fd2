import type { Entry } from './entry.ts';
import type { History } from './history.ts';

/** Lines at the beginning and at the end that are shown of a long history. */
const HEAD = 60;
const TAIL = 140;

/** The history as lines: milliseconds since its start, who, what. */
export function printHistory({ entries }: History): string {
  const startMs = entries[0]?.atMs ?? 0;
  const width = Math.max(0, ...entries.map(({ who }) => who.length));
  const lines = entries.map(
    (entry) =>
      `${String(entry.atMs - startMs).padStart(7)} ms  ${entry.who.padEnd(width)}  ${text(entry)}`,
  );
  if (lines.length <= HEAD + TAIL) return lines.join('\n');
  const left = lines.length - HEAD - TAIL;
  return [...lines.slice(0, HEAD), `        … ${left} lines …`, ...lines.slice(-TAIL)].join('\n');
}

function text(entry: Entry): string {
  switch (entry.what) {
    case 'sent':
    case 'outboxed':
      return `${entry.what} ${entry.id} (${entry.body.byteLength} bytes)`;
    case 'outcome':
      return `${entry.outcome} ${entry.id}${entry.code ? ` ${entry.code}` : ''} after ${entry.tookMs} ms`;
    case 'step':
      return `step ${entry.step}  ${run(entry)}`;
    case 'run':
      return `handler began (${entry.act})  ${run(entry)}`;
    case 'ran':
      return `handler ended: ${entry.ended}  ${run(entry)}`;
    case 'event': {
      const { event, ...rest } = entry.event;
      return `event ${event}  ${details(rest)}`;
    }
    case 'died':
      return `died: ${entry.how}`;
    case 'note':
      return entry.text;
    default:
      return entry.what;
  }
}

const run = (at: { id: string; consumer: string; attempt: number }): string =>
  `${at.consumer} ${at.id} attempt ${at.attempt}`;

function details(values: object): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}
