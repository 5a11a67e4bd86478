-- Only in test databases: refuses a write of a tenant's rows by a transaction that has not taken the provider's lock, or
-- that has not declared the area of the table, whose clock the lock then moves. A provider without a lock is being
-- deleted.

-- A function of its own, so that each connection plans it once and not once per trigger.
create or replace function find_unlocked(ids bigint[], area text) returns bigint language plpgsql as $$
begin
  return (select s.provider_id from provider_state s
    where s.provider_id = any (ids) and s.provider_id <> 0
      and (s.xmin = pg_current_xact_id()::xid and (area is null or s.changed_at = case area
        when 'catalog' then s.catalog_changed_at
        when 'dates' then s.dates_changed_at
        when 'people' then s.people_changed_at
        when 'money' then s.money_changed_at
        when 'school' then s.school_changed_at
      end)) is not true
    limit 1);
end $$;

create function refuse_unlocked() returns trigger language plpgsql as $$
declare
  ids bigint[];
  unlocked bigint;
begin
  case tg_table_name
    when 'providers' then ids := array(select distinct id from changed);
    -- Sign-ons and ended sessions change no data of the provider.
    when 'audit_entries' then ids := array(select distinct provider_id from changed
      where action !~ ' \((succeeded|failed)\)$' and action <> 'POST /my/sessions');
    else ids := array(select distinct provider_id from changed);
  end case;
  if ids = '{}' then
    return null;
  end if;
  unlocked := find_unlocked(ids, tg_argv[0]);
  if unlocked is not null then
    raise exception 'a write to % without the lock of provider %, or without its area', tg_table_name, unlocked using errcode = 'XX001';
  end if;
  return null;
end $$;
