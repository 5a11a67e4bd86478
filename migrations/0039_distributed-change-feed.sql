-- The change feed of a distributed database. There a trigger may only reach the rows of one school, by a statement that
-- reads no transition table, and each server gives other numbers of a sequence. So `distribute` replaces the triggers of
-- 0027 by one per row, whose events are numbered by school.

-- Replaces `record_as_resync()`. It reads the school's row, so that `set_config` runs on the server whose triggers read
-- these settings.
CREATE FUNCTION record_as_resync(provider bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  next_id bigint;
BEGIN
  SELECT coalesce(max(e.id), 0) + 1 INTO next_id FROM events e WHERE e.provider_id = provider;
  -- The provider last, since the others depend on the one before.
  PERFORM set_config('change_feed.changes', '1001', true),
    set_config('change_feed.first_id', CASE WHEN is_current THEN first_event_id() ELSE next_id END::text, true),
    set_config('change_feed.resynced', CASE WHEN is_current THEN current_setting('change_feed.resynced') ELSE '' END, true),
    set_config('change_feed.provider', provider::text, true)
  FROM (
    SELECT coalesce(current_setting('change_feed.provider', true), '') = s.provider_id::text AS is_current
    FROM provider_state s WHERE s.provider_id = provider
  ) school;
END $$;
--> statement-breakpoint
DROP FUNCTION record_as_resync();
--> statement-breakpoint
-- Inserts an event of the transaction or, after 1,000 of the school, one resync per resource. As in 0031, a later update of
-- a date changes its first event instead. A transaction that alternates between schools counts anew at each change.
CREATE FUNCTION record_event(provider bigint, resource_name text, change_kind text, item bigint, is_update boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  total bigint := count_changes();
  first bigint := first_event_id();
  newest bigint;
  moment timestamptz;
  earlier record;
  resynced text := coalesce(current_setting('change_feed.resynced', true), '');
  replaced text[];
  resource_to_add text;
BEGIN
  IF current_setting('change_feed.provider', true) IS DISTINCT FROM provider::text THEN
    total := 0;
    resynced := '';
    PERFORM set_config('change_feed.provider', provider::text, true), set_config('change_feed.resynced', '', true);
  END IF;
  IF total > 1000 AND resource_name = ANY (string_to_array(resynced, ' ')) THEN RETURN; END IF;

  SELECT coalesce(max(e.id), 0) INTO newest FROM events e WHERE e.provider_id = provider;
  IF total = 0 THEN
    first := newest + 1;
    PERFORM set_config('change_feed.first_id', first::text, true);
  END IF;
  SELECT s.changed_at INTO moment FROM provider_state s WHERE s.provider_id = provider;
  moment := coalesce(moment, clock_timestamp());

  IF total <= 1000 THEN
    IF is_update AND resource_name = 'coursedate' AND total > 0 THEN
      SELECT e.id, e.change INTO earlier FROM events e
      WHERE e.provider_id = provider AND e.id >= first AND e.resource = resource_name AND e.resource_id = item
      ORDER BY e.id DESC LIMIT 1;
      IF FOUND THEN
        IF earlier.change = 'seats_changed' AND change_kind = 'updated'
          OR earlier.change <> 'created' AND change_kind = 'deleted' THEN
          UPDATE events e SET change = change_kind WHERE e.provider_id = provider AND e.id = earlier.id;
        END IF;
        RETURN;
      END IF;
    END IF;
    INSERT INTO events (provider_id, id, at, resource, change, resource_id) OVERRIDING SYSTEM VALUE
    VALUES (provider, newest + 1, moment, resource_name, change_kind, item);
    total := total + 1;
    PERFORM set_config('change_feed.changes', total::text, true);
    IF total <= 1000 THEN RETURN; END IF;
  END IF;

  SELECT array_agg(DISTINCT e.resource) INTO replaced FROM events e
  WHERE e.provider_id = provider AND e.id >= first AND e.change <> 'resync';
  IF replaced IS NOT NULL THEN
    DELETE FROM events e WHERE e.provider_id = provider AND e.id >= first AND e.change <> 'resync';
    SELECT coalesce(max(e.id), 0) INTO newest FROM events e WHERE e.provider_id = provider;
  END IF;
  FOR resource_to_add IN SELECT DISTINCT r FROM unnest(array_append(replaced, resource_name)) r ORDER BY r LOOP
    PERFORM FROM events e
    WHERE e.provider_id = provider AND e.id >= first AND e.resource = resource_to_add AND e.change = 'resync';
    IF NOT FOUND THEN
      newest := newest + 1;
      INSERT INTO events (provider_id, id, at, resource, change) OVERRIDING SYSTEM VALUE
      VALUES (provider, newest, moment, resource_to_add, 'resync');
    END IF;
    resynced := resynced || ' ' || resource_to_add;
  END LOOP;
  PERFORM set_config('change_feed.resynced', resynced, true);
END $$;
--> statement-breakpoint
-- A trigger per row; its argument is the resource.
CREATE FUNCTION record_changed_row() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  change_kind text := 'updated';
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM record_event(NEW.provider_id, TG_ARGV[0], 'created', NEW.id, false);
    RETURN NULL;
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM record_event(OLD.provider_id, TG_ARGV[0], 'deleted', OLD.id, false);
    RETURN NULL;
  ELSIF TG_ARGV[0] = 'coursedate' THEN
    IF NEW IS NOT DISTINCT FROM OLD THEN RETURN NULL; END IF;
    IF (NEW.num_confirmed, NEW.num_overbooked, NEW.num_unconfirmed, NEW.num_waiting)
      <> (OLD.num_confirmed, OLD.num_overbooked, OLD.num_unconfirmed, OLD.num_waiting) THEN
      change_kind := 'seats_changed';
    END IF;
  ELSIF NEW.updated_at = OLD.updated_at THEN
    RETURN NULL;
  END IF;
  IF TG_ARGV[0] IN ('course', 'coursedate') THEN
    IF NEW.deleted_at IS NOT NULL AND OLD.deleted_at IS NULL THEN change_kind := 'deleted'; END IF;
  END IF;
  PERFORM record_event(NEW.provider_id, TG_ARGV[0], change_kind, NEW.id, true);
  RETURN NULL;
END $$;
--> statement-breakpoint
-- Inserts the event of a school where its table, a copy of which is on each server, has no trigger. A new sub-school is in
-- the feed of its parent too.
CREATE FUNCTION record_school(school bigint, change_kind text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  parent bigint;
BEGIN
  PERFORM FROM pg_trigger WHERE tgrelid = 'providers'::regclass AND tgname = 'providers_record_updated';
  IF FOUND THEN RETURN; END IF;
  SELECT p.parent_id INTO parent FROM providers p WHERE p.id = school;
  IF change_kind = 'created' AND parent IS NOT NULL THEN
    PERFORM record_event(parent, 'school', change_kind, school, false);
  END IF;
  PERFORM record_event(school, 'school', change_kind, school, false);
END $$;
