import type { Outcome } from './run.ts';
import type { Parked } from './tally.ts';

/** Characters of a body or an error that are printed. */
const MAX_TEXT = 300;

const RETRIES_BY = {
  broker: 'broker: copies in its buckets',
  events: 'events of the consumers',
} as const;

/** The final table, who counted what included. */
export function table({ tally, dead, howKilled, outage, about, tookMs }: Outcome): string {
  const { injected, lateness } = tally;
  const reasons = [...Map.groupBy(tally.parked, ({ reason }) => reason)]
    .map(([reason, messages]) => `${messages.length} ${reason}`)
    .join(', ');
  const rows: readonly (readonly [string, string | number, string])[] = [
    ['lines of input', tally.lines, ''],
    ['orders in', tally.ordersIn, 'SQL: orders'],
    ['  delivered once more', injected.again, 'put on the broker raw, same message id'],
    ['  from a shop of version 1', injected.older, 'put on the broker raw'],
    ['  bad messages', injected.bad, 'put on the broker raw'],
    ['effects: stock reserved', tally.effects, 'SQL: reservations'],
    ['business rejections', tally.rejections, 'SQL: rejections'],
    ['parked', tally.parked.length, `broker: parking lot (${reasons || 'empty'})`],
    ['  parked once more', tally.parkedAgain, 'broker: further copies under the same message id'],
    ['duplicates dropped', tally.duplicatesDropped, 'events of the consumers'],
    ['retries', tally.retries, RETRIES_BY[tally.retriesBy]],
    ['  late by p50 / p99 / max', lateText(lateness), 'clock of the demo, ms after due'],
    ['  earliest after due', lateness ? `${lateness.earliestMs} ms` : '-', 'never below 0'],
    ['killed after COMMIT, before ack', dead ? 1 : 0, dead ? howKilled : 'no commit to die at'],
    ['  effects of its message', dead ? dead.effects : '-', dead?.messageId ?? ''],
    ['database outage', outage ? 1 : 0, outage ?? "left out: the database is not the demo's own"],
    ['lost', tally.lost.length, 'input without an end in SQL or parking lot'],
    ['double effects', tally.doubleEffects, 'SQL: more than one end for an order'],
  ];
  const body = rows.map(([name, value, by]) =>
    `  ${name.padEnd(34)}${String(value).padStart(12)}   ${by}`.trimEnd(),
  );
  const head = `On ${about}, in ${(tookMs / 1000).toFixed(1)} s:`;
  return [head, '', ...body, ''].join('\n');
}

/** Parked messages in full: the first of each reason, or all. */
export function parkedText(parked: readonly Parked[], all: boolean): string {
  if (parked.length === 0) return '';
  const first = [...Map.groupBy(parked, ({ reason }) => reason).values()].flatMap((group) =>
    group.slice(0, 1),
  );
  const shown = all ? parked : first;
  const rest = parked.length - shown.length;
  const title = all ? 'Parked messages:' : 'Parked messages, the first of each reason:';
  const more = rest > 0 ? [`  … and ${rest} more, with --show-parked`] : [];
  return ['', title, ...shown.map(oneParked), ...more, ''].join('\n');
}

function oneParked({ id, reason, attempts, error, headers, body }: Parked): string {
  const failed = [headers['error-type'], headers['error-code']].filter(Boolean).join(' ');
  return [
    `  ${id}  reason ${reason}  after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`,
    `    error  ${failed ? `${failed}: ` : ''}${cut(error)}`,
    `    body   ${cut(body)}`,
  ].join('\n');
}

/** What holds, or what does not and how that comes. */
export function verdictText(broken: readonly string[], withoutInbox: boolean): string {
  if (broken.length === 0) {
    const ended = 'Every message ended in one effect, one business result or one parked record.';
    if (!withoutInbox) return `OK: ${ended}\n`;
    return `OK: ${ended} (Without the Inbox that was luck.)\n`;
  }
  const why = withoutInbox
    ? ['Without the Inbox a message that is delivered again has its effect again.']
    : [];
  return [`BROKEN:`, ...broken.map((each) => `  ${each}`), ...why, ''].join('\n');
}

function lateText(lateness: Outcome['tally']['lateness']): string {
  if (lateness === undefined) return '-';
  return `${lateness.p50Ms} / ${lateness.p99Ms} / ${lateness.maxMs}`;
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}… (${text.length} characters)` : line;
}
