import { OUTBOX_SLOTS } from '@ackord/core/store';

/** Inbox, attempts, versions, outbox with its slots, parked and waiting messages. */
export const INBOX_OUTBOX: string = `
create table {schema}.processed_messages (
  consumer_name text not null,
  message_id text not null,
  processed_at timestamptz not null default now(),
  outcome text not null default 'applied' check (outcome in ('applied', 'stale', 'expired', 'rejected')),
  primary key (consumer_name, message_id)
);
create index processed_messages_by_age on {schema}.processed_messages (consumer_name, processed_at);

create table {schema}.message_attempts (
  consumer_name text not null,
  message_id text not null,
  attempts integer not null check (attempts >= 1),
  unknowns integer not null default 0,
  first_failed_at timestamptz not null,
  last_failed_at timestamptz not null,
  due_at timestamptz,
  redrive_count integer not null default 0,
  total_attempts integer not null,
  error_type text,
  error_text text,
  primary key (consumer_name, message_id)
);
create index message_attempts_by_age on {schema}.message_attempts (consumer_name, last_failed_at);

create table {schema}.consumer_versions (
  consumer_name text not null,
  aggregate_type text not null,
  aggregate_id text not null,
  version bigint,
  primary key (consumer_name, aggregate_type, aggregate_id)
);

create table {schema}.aggregate_versions (
  destination text not null,
  aggregate_type text not null,
  aggregate_id text not null,
  version bigint not null,
  primary key (destination, aggregate_type, aggregate_id)
);

create table {schema}.outbox (
  seq bigint generated always as identity primary key,
  message_id text not null,
  broker text not null,
  target text not null,
  destination text not null,
  message_type text not null,
  lane_key text,
  dedup_id text not null,
  content_type text not null,
  correlation_id text,
  occurred_at timestamptz,
  headers json not null,
  body bytea not null,
  slot smallint not null check (slot between 0 and ${OUTBOX_SLOTS - 1}),
  state text not null default 'ready' check (state in ('ready', 'refused')),
  refused_at timestamptz,
  refused_kind text,
  refused_text text,
  refused_blocks boolean,
  created_at timestamptz not null default now(),
  constraint outbox_message_once unique (message_id, broker, target)
);
create index outbox_ready on {schema}.outbox (broker, slot, seq) where state = 'ready';
create index outbox_refused on {schema}.outbox (broker, target, lane_key, seq) where state = 'refused';

create table {schema}.outbox_slots (
  slot smallint primary key,
  owner text,
  epoch bigint not null default 0,
  expires_at timestamptz not null default '-infinity'
) with (fillfactor = 50);
insert into {schema}.outbox_slots (slot) select generate_series(0, ${OUTBOX_SLOTS - 1});

create table {schema}.outbox_relays (
  owner text primary key,
  expires_at timestamptz not null
);

create table {schema}.parked_messages (
  parked_id bigint generated always as identity primary key,
  consumer_name text not null,
  consumer_version text,
  message_id text not null,
  message_type text,
  schema_version integer,
  producer text,
  correlation_id text,
  trace_context text,
  aggregate_type text,
  aggregate_id text,
  aggregate_version bigint,
  occurred_at timestamptz,
  broker text,
  source_destination text,
  routing_key text,
  content_type text,
  headers json not null,
  body bytea not null,
  reason text not null check (reason in (
    'permanent', 'attempts', 'age', 'unknown', 'invalid_contract', 'unhandled', 'order_gap',
    'order_conflict', 'outside_dedupe_window', 'crash_loop', 'native')),
  failure_class text,
  error_type text,
  error_code text,
  error_text text,
  fingerprint text,
  native_reason text,
  attempts integer not null default 0,
  total_attempts integer not null default 0,
  redrive_count integer not null default 0,
  first_failed_at timestamptz,
  last_failed_at timestamptz,
  parked_at timestamptz not null default now(),
  state text not null default 'open' check (state in ('open', 'released', 'discarded')),
  state_changed_at timestamptz,
  state_changed_by text,
  state_reason text
);
create unique index parked_messages_open on {schema}.parked_messages (consumer_name, message_id) where state = 'open';
create index parked_messages_by_fingerprint on {schema}.parked_messages (consumer_name, fingerprint) where state = 'open';

create table {schema}.waiting_messages (
  consumer_name text not null,
  aggregate_type text not null,
  aggregate_id text not null,
  aggregate_version bigint not null,
  message_id text not null,
  broker text not null,
  source_destination text not null,
  routing_key text,
  content_type text,
  headers json not null,
  body bytea not null,
  occurred_at timestamptz,
  stored_at timestamptz not null default now(),
  wait_until timestamptz not null,
  primary key (consumer_name, aggregate_type, aggregate_id, aggregate_version)
);
create index waiting_messages_by_limit on {schema}.waiting_messages (wait_until);
`;
