-- Only in test databases: refuses a write of a tenant's rows by a transaction that has not taken the provider's lock, or
-- that has not declared the area of the table, whose clock the lock then moves. A provider without a lock is being
-- deleted.
create function area_of(table_name text) returns text language plpgsql immutable as $$
begin
  case
    when table_name in ('courses', 'course_translations', 'products', 'course_categories', 'tags', 'course_tags',
      'labels', 'course_labels', 'catalog_addresses', 'catalog_names', 'locations', 'instructors') then return 'catalog';
    when table_name in ('course_dates', 'course_date_instructors', 'gatherings', 'gathering_instructors', 'bundles')
      then return 'dates';
    when table_name in ('course_users', 'participants', 'attendances', 'attendance_marks', 'order_line_participants', 'customers',
      'course_interests', 'admin_memberships', 'admin_membership_roles', 'roles') then return 'people';
    when table_name in ('orders', 'order_lines', 'bookings', 'vouchers', 'voucher_redemptions', 'payments', 'campaigns',
      'campaign_courses', 'campaign_customers', 'campaign_tags') then return 'money';
    when table_name in ('providers', 'partner_connections', 'webhooks', 'booking_settings', 'catalog_settings') then return 'school';
    -- No list reads these.
    when table_name in ('api_keys', 'outbox', 'audit_entries', 'idempotency_records', 'import_refs',
      'provider_limits', 'merged_users', 'cancellations', 'date_notices', 'catalog_posts') then return null;
    else raise exception 'test/support/refuse-unlocked.sql lists no area of the table %', table_name;
  end case;
end $$;

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
  unlocked := find_unlocked(ids, area_of(tg_table_name));
  if unlocked is not null then
    raise exception 'a write to % without the lock of provider %, or without its area', tg_table_name, unlocked using errcode = 'XX001';
  end if;
  return null;
end $$;

do $$
declare
  name text;
begin
  for name in
    select table_name from information_schema.columns c
    where table_schema = 'public' and column_name = 'provider_id'
      -- Written without the lock: the lock itself, credentials, the last use of keys, states of mails and
      -- webhooks, links of interests, retention, counted requests, erasures of a list.
      and table_name not in ('provider_state', 'tokens', 'booking_links', 'sessions', 'sign_on_failures', 'api_keys', 'api_key_uses', 'outbox', 'audit_entries',
        'events', 'webhooks', 'webhook_deliveries', 'webhook_wakeups', 'webhook_tests', 'staged_lines', 'provider_usage', 'erasures',
        'calendar_feeds', 'refused_addresses', 'course_interests')
  loop
    perform area_of(name);
    execute format('create trigger refuse_unlocked_insert after insert on %I referencing new table as changed for each statement execute function refuse_unlocked()', name);
    execute format('create trigger refuse_unlocked_update after update on %I referencing new table as changed for each statement execute function refuse_unlocked()', name);
    -- Deleted without the lock by housekeeping alone.
    continue when name in ('idempotency_records', 'import_refs', 'catalog_posts');
    execute format('create trigger refuse_unlocked_delete after delete on %I referencing old table as changed for each statement execute function refuse_unlocked()', name);
  end loop;
  -- A provider's row is inserted before its provider_state can be, in the same transaction.
  create trigger refuse_unlocked_update after update on providers referencing new table as changed for each statement execute function refuse_unlocked();
  create trigger refuse_unlocked_insert after insert on api_keys referencing new table as changed for each statement execute function refuse_unlocked();
  create trigger refuse_unlocked_insert after insert on audit_entries referencing new table as changed for each statement execute function refuse_unlocked();
  create trigger refuse_unlocked_insert after insert on webhooks referencing new table as changed for each statement execute function refuse_unlocked();
  create trigger refuse_unlocked_insert after insert on course_interests referencing new table as changed for each statement execute function refuse_unlocked();
  create trigger refuse_unlocked_insert after insert on outbox referencing new table as changed for each statement execute function refuse_unlocked();
end $$;
