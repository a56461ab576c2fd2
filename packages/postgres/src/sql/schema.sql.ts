export const CREATE_VERSION_TABLE = `create schema if not exists {schema};
create table if not exists {schema}.schema_version (
  version integer primary key,
  name text not null,
  applied_at timestamptz not null default now()
);`;

/** Null while nothing was migrated. */
export const FIND_VERSION_TABLE = `select to_regclass($1::text)::text as found`;

export const READ_VERSION = `select coalesce(max(version), 0)::int as version from {schema}.schema_version`;

export const ADD_VERSION = `insert into {schema}.schema_version (version, name) values ($1::int, $2::text)`;

export const MIGRATION_LOCK = `select pg_advisory_xact_lock(hashtextextended('ackord.migrate:' || $1::text, 0))`;

export const SERVER_SETTINGS = `select name, setting from pg_settings where name in
  ('synchronous_commit', 'fsync', 'full_page_writes', 'default_transaction_read_only', 'server_version_num')`;

export const SERVER_KIND = `select version() as version, pg_is_in_recovery() as standby`;
