import { OUTBOX_SLOTS } from '@ackord/core/store';

/** Announces the relay, and forgets those that have been silent for a minute. */
export const ANNOUNCE = `with gone as (
  delete from {schema}.outbox_relays where owner in (
    select owner from {schema}.outbox_relays where expires_at < now() - interval '1 minute' and owner <> $1::text
    for update skip locked)
)
insert into {schema}.outbox_relays (owner, expires_at)
values ($2::text, now() + $3::float8 * interval '1 millisecond')
on conflict (owner) do update set expires_at = excluded.expires_at`;

/**
 * Renews what the owner has up to its fair share, gives back what is above it except busy slots,
 * and takes free or expired ones. A slot that another relay is taking is skipped, not waited for.
 */
export const LEASE: string = `with asked as (
  select $1::text as owner, now() + $2::float8 * interval '1 millisecond' as expires_at, $3::smallint[] as busy
), share as (
  select ceil(${OUTBOX_SLOTS}.0 / greatest(count(*) filter (where r.expires_at > now()), 1))::int as slots
  from {schema}.outbox_relays r
), mine as (
  select m.slot, m.busy, row_number() over (order by m.busy desc, m.slot) as rank
  from (select s.slot, s.slot = any (asked.busy) as busy from {schema}.outbox_slots s, asked
    where s.owner = asked.owner for update of s) m
), given_back as (
  update {schema}.outbox_slots s set owner = null, expires_at = '-infinity'
  from mine, share where s.slot = mine.slot and mine.rank > share.slots and not mine.busy
), renewed as (
  update {schema}.outbox_slots s set expires_at = asked.expires_at
  from mine, share, asked where s.slot = mine.slot and (mine.rank <= share.slots or mine.busy)
  returning s.slot, s.epoch
), free as (
  select s.slot from {schema}.outbox_slots s, asked
  where (s.owner is null or s.expires_at <= now()) and s.owner is distinct from asked.owner
  order by s.slot
  limit (select greatest(share.slots - (select count(*) from mine), 0) from share)
  for update of s skip locked
), taken as (
  update {schema}.outbox_slots s set owner = asked.owner, expires_at = asked.expires_at, epoch = s.epoch + 1
  from free, asked where s.slot = free.slot
  returning s.slot, s.epoch
)
select slot::int as slot, epoch::float8 as epoch from renewed
union all select slot::int, epoch::float8 from taken
order by slot`;

export const RELEASE_SLOTS = `with gone as (
  delete from {schema}.outbox_relays where owner = $1::text
)
update {schema}.outbox_slots set owner = null, expires_at = '-infinity' where owner = $2::text`;
