/** Columns of a new row, in the order of its values. */
const INSERT = `insert into {schema}.outbox (message_id, broker, target, destination, message_type, lane_key,
  dedup_id, content_type, correlation_id, occurred_at, headers, body, slot) values `;

/** Casts name the types for adapters that do not describe parameters. */
const CASTS = [
  'text',
  'text',
  'text',
  'text',
  'text',
  'text',
  'text',
  'text',
  'text',
  'text::timestamptz',
  'text::json',
  'bytea',
  'int',
] as const;

/** The insert of one row, which is the usual one. */
const INSERT_ONE = rowsText(1);

/** One statement for `rows` rows; each `$n` once and in order. */
export function insertRows(rows: number): string {
  return rows === 1 ? INSERT_ONE : rowsText(rows);
}

function rowsText(rows: number): string {
  const row = (at: number): string =>
    `(${CASTS.map((cast, column) => `$${at * CASTS.length + column + 1}::${cast}`).join(', ')})`;
  return INSERT + Array.from({ length: rows }, (_, at) => row(at)).join(', ');
}

/** Name of the constraint that a repeated id breaks. */
export const MESSAGE_ONCE = 'outbox_message_once';

export const NEXT_VERSION = `insert into {schema}.aggregate_versions as a (destination, aggregate_type, aggregate_id, version)
values ($1::text, $2::text, $3::text, 1)
on conflict (destination, aggregate_type, aggregate_id) do update set version = a.version + 1
returning version::float8 as version`;

/**
 * Probes the index once per broker and slot, so that the backlog of a broker that is down costs
 * the others nothing. Only slots whose lease is still held answer.
 */
export const FETCH = `with held as (
  select s.slot from unnest($1::smallint[], $2::bigint[]) as l (slot, epoch)
  join {schema}.outbox_slots s on s.slot = l.slot and s.epoch = l.epoch and s.expires_at > now()
), next as (
  select o.seq from held
  cross join unnest($3::text[]) as b (broker)
  cross join lateral (
    select r.seq from {schema}.outbox r
    where r.state = 'ready' and r.broker = b.broker and r.slot = held.slot
      and r.seq <> all ($4::bigint[])
      and not exists (select from {schema}.outbox f
        where f.state = 'refused' and f.refused_blocks and f.broker = r.broker and f.target = r.target
          and f.lane_key = r.lane_key and f.seq < r.seq)
    order by r.seq limit $5::int
  ) o
  order by o.seq limit $6::int
)
select o.seq::text as seq, o.slot::int as slot, o.message_id, o.broker, o.target, o.destination,
  o.message_type, o.lane_key, o.dedup_id, o.content_type, o.correlation_id, o.headers::text as headers, o.body,
  round(extract(epoch from o.occurred_at) * 1000)::float8 as occurred_ms,
  round(extract(epoch from o.created_at) * 1000)::float8 as created_ms
from next join {schema}.outbox o using (seq)
order by o.seq`;

export const REMOVE = `delete from {schema}.outbox o
using unnest($1::bigint[], $2::smallint[], $3::bigint[]) as d (seq, slot, epoch), {schema}.outbox_slots s
where o.seq = d.seq and o.slot = d.slot and s.slot = d.slot and s.epoch = d.epoch
returning o.seq::text as seq`;

export const REFUSE = `update {schema}.outbox o set state = 'refused', refused_at = now(),
  refused_kind = $1::text, refused_text = $2::text, refused_blocks = $3::boolean
from {schema}.outbox_slots s
where o.seq = $4::bigint and o.slot = $5::smallint and o.state = 'ready'
  and s.slot = o.slot and s.epoch = $6::bigint
returning o.seq::text as seq`;

/** Null as ids: all of them. */
export const RETRY_REFUSED = `update {schema}.outbox o set state = 'ready', refused_at = null,
  refused_kind = null, refused_text = null, refused_blocks = null
from (select $1::text[] as ids) w
where o.state = 'refused' and (w.ids is null or o.message_id = any (w.ids))
returning o.seq::text as seq`;

export const DEPTH = `select
  (select count(*) from {schema}.outbox where state = 'ready')::float8 as ready,
  (select count(*) from {schema}.outbox where state = 'refused')::float8 as refused,
  (select round(extract(epoch from created_at) * 1000)::float8 from {schema}.outbox
    where state = 'ready' order by seq limit 1) as oldest_ms`;
