/** Waits while another transaction holds one of the claims. */
export const CLAIM = `insert into {schema}.processed_messages (consumer_name, message_id)
select * from unnest($1::text[], $2::text[])
on conflict do nothing
returning consumer_name, message_id`;

export const CLAIM_COLUMNS = ['consumer_name', 'message_id'] as const;

/** The claim of one message, told by its row count. */
export const CLAIM_ONE = `insert into {schema}.processed_messages (consumer_name, message_id)
values ($1::text, $2::text)
on conflict do nothing`;

/** Read committed: the attempt rows must be read after the wait for a claim, by a snapshot of their own. */
export const BEGIN = 'begin isolation level read committed';

/**
 * With it the server notices within half a second that a client has gone while a statement runs,
 * and lets go of the claims. From PostgreSQL 14, not on every platform: tried once.
 */
export const NOTICE_GONE_CLIENT = `set local client_connection_check_interval = '500ms'`;

export const COMMIT = 'commit';
export const ROLLBACK = 'rollback';

export const SAVEPOINT = 'savepoint ackord_claimed';
export const ROLLBACK_TO_SAVEPOINT = 'rollback to savepoint ackord_claimed';

/** A statement of its own behind the claim: its snapshot holds what the transaction waited for recorded. */
export const READ_ATTEMPTS: string = attemptsOf(
  `(a.consumer_name, a.message_id) in (select * from unnest($1::text[], $2::text[]))`,
);
export const READ_ATTEMPTS_ONE: string = attemptsOf(
  'a.consumer_name = $1::text and a.message_id = $2::text',
);

export const ATTEMPT_COLUMNS = [
  'consumer_name',
  'message_id',
  'attempts',
  'unknowns',
  'redrive_count',
  'total_attempts',
  'error_type',
  'error_text',
  'first_failed_ms',
  'last_failed_ms',
  'due_ms',
] as const;

function attemptsOf(which: string): string {
  return `select a.consumer_name, a.message_id, a.attempts, a.unknowns,
  a.redrive_count, a.total_attempts, a.error_type, a.error_text,
  round(extract(epoch from a.first_failed_at) * 1000)::float8 as first_failed_ms,
  round(extract(epoch from a.last_failed_at) * 1000)::float8 as last_failed_ms,
  round(extract(epoch from a.due_at) * 1000)::float8 as due_ms
from {schema}.message_attempts a
where ${which}`;
}

/** So that there is a row to lock before the first version. */
export const ENSURE_VERSIONS = `insert into {schema}.consumer_versions (consumer_name, aggregate_type, aggregate_id)
select * from unnest($1::text[], $2::text[], $3::text[])
on conflict do nothing`;

export const LOCK_VERSIONS = `select v.consumer_name, v.aggregate_type, v.aggregate_id, v.version::float8 as version
from {schema}.consumer_versions v
where (v.consumer_name, v.aggregate_type, v.aggregate_id) in
  (select * from unnest($1::text[], $2::text[], $3::text[]))
order by v.consumer_name, v.aggregate_type, v.aggregate_id
for update of v`;

export const VERSION_COLUMNS = [
  'consumer_name',
  'aggregate_type',
  'aggregate_id',
  'version',
] as const;

export const SET_VERSIONS = `update {schema}.consumer_versions v set version = n.version
from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as n (consumer_name, aggregate_type, aggregate_id, version)
where v.consumer_name = n.consumer_name and v.aggregate_type = n.aggregate_type and v.aggregate_id = n.aggregate_id`;

export const SET_OUTCOMES = `update {schema}.processed_messages p set outcome = o.outcome
from unnest($1::text[], $2::text[], $3::text[]) as o (consumer_name, message_id, outcome)
where p.consumer_name = o.consumer_name and p.message_id = o.message_id`;

export const DELETE_ATTEMPTS = `delete from {schema}.message_attempts
where (consumer_name, message_id) in (select * from unnest($1::text[], $2::text[]))`;

export const DELETE_CLAIMS = `delete from {schema}.processed_messages
where (consumer_name, message_id) in (select * from unnest($1::text[], $2::text[]))`;

/**
 * A later redrive cycle starts new counts. A copy left over from an earlier one counts as one more
 * run, whatever number it carries. Copies that failed at the same time: no run before the later due
 * time, none after a decision to park.
 */
export const RECORD_FAILURES = `insert into {schema}.message_attempts as a (consumer_name, message_id, attempts,
  unknowns, first_failed_at, last_failed_at, due_at, redrive_count, total_attempts, error_type, error_text)
select f.consumer_name, f.message_id, f.attempt, f.unknowns, f.failed_at, f.failed_at, f.due_at,
  f.cycle, f.attempt, f.error_type, f.error_text
from unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::int[], $6::timestamptz[], $7::timestamptz[],
  $8::text[], $9::text[])
  as f (consumer_name, message_id, attempt, unknowns, cycle, failed_at, due_at, error_type, error_text)
on conflict (consumer_name, message_id) do update set
  attempts = case
    when excluded.redrive_count > a.redrive_count then excluded.attempts
    when excluded.redrive_count = a.redrive_count then greatest(excluded.attempts, a.attempts + 1)
    else a.attempts + 1 end,
  unknowns = case when excluded.redrive_count > a.redrive_count then excluded.unknowns
    else a.unknowns + excluded.unknowns end,
  first_failed_at = case when excluded.redrive_count > a.redrive_count then excluded.first_failed_at
    else least(a.first_failed_at, excluded.first_failed_at) end,
  last_failed_at = greatest(a.last_failed_at, excluded.last_failed_at),
  due_at = case when excluded.redrive_count > a.redrive_count then excluded.due_at
    when a.due_at is null or excluded.due_at is null then null
    else greatest(a.due_at, excluded.due_at) end,
  redrive_count = greatest(a.redrive_count, excluded.redrive_count),
  total_attempts = a.total_attempts + case
    when excluded.redrive_count > a.redrive_count then excluded.attempts
    when excluded.redrive_count = a.redrive_count then greatest(excluded.attempts - a.attempts, 1)
    else 1 end,
  error_type = excluded.error_type,
  error_text = excluded.error_text`;

export const PURGE_INBOX = `delete from {schema}.processed_messages where (consumer_name, message_id) in (
  select p.consumer_name, p.message_id from {schema}.processed_messages p
  where p.consumer_name = $1::text and p.processed_at < now() - $2::float8 * interval '1 millisecond'
    and not exists (select from {schema}.parked_messages k
      where k.consumer_name = p.consumer_name and k.message_id = p.message_id and k.state = 'open')
  order by p.processed_at
  limit $3::int)`;

/** What runs that never came back left behind. */
export const PURGE_ATTEMPTS = `delete from {schema}.message_attempts where (consumer_name, message_id) in (
  select a.consumer_name, a.message_id from {schema}.message_attempts a
  where a.consumer_name = $1::text and a.last_failed_at < now() - $2::float8 * interval '1 millisecond'
    and (a.due_at is null or a.due_at < now())
    and not exists (select from {schema}.parked_messages k
      where k.consumer_name = a.consumer_name and k.message_id = a.message_id and k.state = 'open')
  limit $3::int)`;
