-- The change feed of a distributed database. There a trigger may only reach the rows of one school, by a statement that
-- reads no transition table, and each server gives other numbers of a sequence. So `distribute` replaces the triggers of
-- 0027 by one per row, whose events are numbered by school.

-- Replaces `record_as_resync()`. It reads the school's row, since the server that has it runs the triggers.
CREATE FUNCTION record_as_resync(provider bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  next_id bigint;
BEGIN
  SELECT coalesce(max(e.id), 0) + 1 INTO next_id FROM events e WHERE e.provider_id = provider;
  PERFORM set_config('change_feed.changes', '1001', true), set_config('change_feed.provider', provider::text, true),
    set_config('change_feed.first_id', coalesce(first_event_id(), next_id)::text, true)
  FROM provider_state s WHERE s.provider_id = provider;
END $$;
--> statement-breakpoint
DROP FUNCTION record_as_resync();
--> statement-breakpoint
-- Leaves an event of the transaction or, after 1,000 of the school, one resync per resource. As in 0031, a second update
-- of a date leaves none.
CREATE FUNCTION record_event(provider bigint, changed text, what text, item bigint, is_update boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  total bigint := count_changes();
  first bigint := first_event_id();
  newest bigint;
  moment timestamptz;
  earlier record;
  resynced text[];
  one text;
BEGIN
  SELECT coalesce(max(e.id), 0) INTO newest FROM events e WHERE e.provider_id = provider;
  IF current_setting('change_feed.provider', true) IS DISTINCT FROM provider::text THEN
    total := 0;
    first := newest + 1;
    PERFORM set_config('change_feed.provider', provider::text, true), set_config('change_feed.first_id', first::text, true);
  END IF;
  SELECT s.changed_at INTO moment FROM provider_state s WHERE s.provider_id = provider;
  moment := coalesce(moment, clock_timestamp());

  IF total <= 1000 THEN
    IF is_update AND changed = 'coursedate' AND total > 0 THEN
      SELECT e.id, e.change INTO earlier FROM events e
      WHERE e.provider_id = provider AND e.id >= first AND e.resource = changed AND e.resource_id = item
      ORDER BY e.id DESC LIMIT 1;
      IF FOUND THEN
        IF earlier.change = 'seats_changed' AND what = 'updated' OR earlier.change <> 'created' AND what = 'deleted' THEN
          UPDATE events e SET change = what WHERE e.provider_id = provider AND e.id = earlier.id;
        END IF;
        RETURN;
      END IF;
    END IF;
    INSERT INTO events (provider_id, id, at, resource, change, resource_id) OVERRIDING SYSTEM VALUE
    VALUES (provider, newest + 1, moment, changed, what, item);
    total := total + 1;
    PERFORM set_config('change_feed.changes', total::text, true);
    IF total <= 1000 THEN RETURN; END IF;
  END IF;

  SELECT array_agg(DISTINCT e.resource) INTO resynced FROM events e
  WHERE e.provider_id = provider AND e.id >= first AND e.change <> 'resync';
  IF resynced IS NOT NULL THEN
    DELETE FROM events e WHERE e.provider_id = provider AND e.id >= first AND e.change <> 'resync';
    SELECT coalesce(max(e.id), 0) INTO newest FROM events e WHERE e.provider_id = provider;
  END IF;
  FOR one IN SELECT DISTINCT r FROM unnest(array_append(resynced, changed)) r ORDER BY r LOOP
    PERFORM FROM events e
    WHERE e.provider_id = provider AND e.id >= first AND e.resource = one AND e.change = 'resync';
    IF NOT FOUND THEN
      newest := newest + 1;
      INSERT INTO events (provider_id, id, at, resource, change) OVERRIDING SYSTEM VALUE
      VALUES (provider, newest, moment, one, 'resync');
    END IF;
  END LOOP;
END $$;
--> statement-breakpoint
-- A trigger per row; its argument is the resource.
CREATE FUNCTION record_changed_row() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  what text := 'updated';
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
      what := 'seats_changed';
    END IF;
  ELSIF NEW.updated_at = OLD.updated_at THEN
    RETURN NULL;
  END IF;
  IF TG_ARGV[0] IN ('course', 'coursedate') THEN
    IF NEW.deleted_at IS NOT NULL AND OLD.deleted_at IS NULL THEN what := 'deleted'; END IF;
  END IF;
  PERFORM record_event(NEW.provider_id, TG_ARGV[0], what, NEW.id, true);
  RETURN NULL;
END $$;
--> statement-breakpoint
-- Leaves the event of a school where its table, a copy of which is on each server, has no trigger. A new sub-school is in
-- the feed of its parent too.
CREATE FUNCTION record_school(school bigint, what text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  parent bigint;
BEGIN
  PERFORM FROM pg_trigger WHERE tgrelid = 'providers'::regclass AND tgname = 'providers_record_updated';
  IF FOUND THEN RETURN; END IF;
  SELECT p.parent_id INTO parent FROM providers p WHERE p.id = school;
  IF what = 'created' AND parent IS NOT NULL THEN PERFORM record_event(parent, 'school', what, school, false); END IF;
  PERFORM record_event(school, 'school', what, school, false);
END $$;
