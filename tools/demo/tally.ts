import { messageIdOf } from '../../examples/orders/src/order-service.ts';
import type { Lateness, Observations } from './observations.ts';
import type { InputLine } from './read-orders.ts';
import type { RawParked, Row, World } from './world.ts';

/** A parked message, read from the raw headers of its copy. */
export interface Parked {
  readonly id: string;
  readonly reason: string;
  readonly attempts: number;
  readonly error: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What became of every line: counted in the database and on the broker, against the input. */
export interface Tally {
  readonly lines: number;
  /** Rows that the order service wrote. */
  readonly ordersIn: number;
  /** Messages put on the broker beside them. */
  readonly injected: { readonly again: number; readonly older: number; readonly bad: number };
  readonly effects: number;
  readonly rejections: number;
  /** By message id: the first copy of each. */
  readonly parked: readonly Parked[];
  /** Further copies in the parking lot: a duplicate of a parked message is parked under the same id. */
  readonly parkedAgain: number;
  /** Order ids that ended in the database and in the parking lot. */
  readonly endedTwice: readonly string[];
  readonly duplicatesDropped: number;
  readonly retries: number;
  readonly retriesBy: 'broker' | 'events';
  readonly lateness: Lateness | undefined;
  /** Order or message ids that ended nowhere. */
  readonly lost: readonly string[];
  /** Order ids with more than one reservation or rejection. */
  readonly doubled: readonly string[];
  readonly doubleEffects: number;
  /** Articles whose reserved pieces are not the sum of their reservations. */
  readonly stockDrift: readonly string[];
  readonly outboxLeft: number;
}

export async function tally(
  lines: readonly InputLine[],
  world: World,
  observations: Observations,
): Promise<Tally> {
  const ended = await endings(world);
  const copies = (await world.parked()).map(readParked);
  const parked = [...Map.groupBy(copies, ({ id }) => id).values()].flatMap((same) =>
    same.slice(0, 1),
  );
  const given = new Set(parked.map(({ id }) => id));
  const copied = await world.retryCopies();
  const [counts] = await world.sql(`select (select count(*) from orders)::int as orders,
    (select count(*) from ackord.outbox)::int as outbox`);
  const drift = await world.sql(`select sku from stock s where reserved <>
    (select coalesce(sum(count), 0) from reservations r where r.sku = s.sku)`);
  const kinds = (kind: InputLine['kind']): number =>
    lines.filter((line) => line.kind === kind).length;
  const doubled = ended.filter(({ times }) => times > 1);
  return {
    lines: lines.length,
    ordersIn: Number(counts?.['orders']),
    injected: { again: kinds('again'), older: kinds('older'), bad: kinds('bad') },
    effects: sum(ended, ({ effects }) => effects),
    rejections: sum(ended, ({ times, effects }) => times - effects),
    parked,
    parkedAgain: copies.length - parked.length,
    endedTwice: ended.flatMap(({ id }) => (given.has(messageIdOf({ orderId: id })) ? [id] : [])),
    duplicatesDropped: observations.duplicates,
    retries: copied ?? observations.retries,
    retriesBy: copied === undefined ? 'events' : 'broker',
    lateness: observations.lateness(),
    lost: unaccounted(lines, ended, parked),
    doubled: doubled.map(({ id }) => id),
    doubleEffects: sum(doubled, ({ times }) => times - 1),
    stockDrift: drift.map((row) => String(row['sku'])),
    outboxLeft: Number(counts?.['outbox']),
  };
}

interface Ending {
  readonly id: string;
  /** Reservations and rejections. */
  readonly times: number;
  readonly effects: number;
}

/** Order ids with a reservation or a rejection. */
export async function endings(world: World): Promise<readonly Ending[]> {
  const rows = await world.sql(`select order_id, count(*)::int as times,
    count(*) filter (where effect)::int as effects from (
      select order_id, true as effect from reservations
      union all select order_id, false from rejections) ended group by order_id`);
  return rows.map((row: Row) => ({
    id: String(row['order_id']),
    times: Number(row['times']),
    effects: Number(row['effects']),
  }));
}

/** Ids of lines that have neither an ending in the database nor a parked message. */
function unaccounted(
  lines: readonly InputLine[],
  ended: readonly Ending[],
  parked: readonly Pick<Parked, 'id'>[],
): readonly string[] {
  const done = new Set(ended.map(({ id }) => id));
  const given = new Set(parked.map(({ id }) => id));
  return lines.flatMap((line) => {
    if (line.kind === 'again') return [];
    if (line.kind === 'bad') return given.has(line.raw.id) ? [] : [line.raw.id];
    const { order } = line;
    return done.has(order.orderId) || given.has(messageIdOf(order)) ? [] : [order.orderId];
  });
}

const PREFIX = 'ackord-park-';

/** By the documented names of the headers, without the library's reader. */
function readParked({ headers, body }: RawParked): Parked {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(PREFIX)) texts[name.slice(PREFIX.length)] = plain(String(value));
  }
  return {
    id: texts['id'] ?? 'no id',
    reason: texts['reason'] ?? 'no reason',
    attempts: Number(texts['attempts'] ?? 0),
    error: texts['error'] ?? '',
    headers: texts,
    body,
  };
}

/** Control characters are percent-encoded in headers. */
function plain(text: string): string {
  return text.replace(/(?:%[0-9A-F]{2})+/g, (encoded) => decodeURIComponent(encoded));
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
