-- Every committed change of these resources leaves an event, whatever statement makes it. A row has changed if its
-- updated_at has, so a second change by the same write leaves no second event. Each trigger function contains its own
-- statement on the transition tables: PostgreSQL plans such a statement once per connection.

-- The number of changes of the transaction, in a setting that is local to it.
CREATE FUNCTION count_changes() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(nullif(current_setting('change_feed.changes', true), ''), '0')::bigint
$$;
--> statement-breakpoint
-- A lower bound of the ids of the transaction's events; null before the first one.
CREATE FUNCTION first_event_id() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT nullif(current_setting('change_feed.first_id', true), '')::bigint
$$;
--> statement-breakpoint
-- Makes the transaction leave one resync per resource: for one of the many transactions of a large import.
CREATE FUNCTION record_as_resync() RETURNS void LANGUAGE sql AS $$
  SELECT set_config('change_feed.changes', '1001', true),
    set_config('change_feed.first_id', coalesce(first_event_id(), nextval('events_id_seq'))::text, true)
$$;
--> statement-breakpoint
-- Replaces the events of the transaction by one resync per resource, and adds this resource.
CREATE FUNCTION record_resync(changed_resource text, provider_ids bigint[]) RETURNS void LANGUAGE sql AS $$
  WITH replaced AS (
    DELETE FROM events
    WHERE provider_id = ANY (provider_ids) AND id >= first_event_id() AND change <> 'resync'
    RETURNING provider_id, resource
  )
  INSERT INTO events (provider_id, at, resource, change)
  SELECT r.provider_id, coalesce(s.changed_at, clock_timestamp()), r.resource, 'resync'
  FROM (
    SELECT provider_id, resource FROM replaced
    UNION SELECT provider_id, changed_resource FROM unnest(provider_ids) provider_id
  ) r LEFT JOIN provider_state s ON s.provider_id = r.provider_id
  WHERE NOT EXISTS (
    SELECT FROM events e
    WHERE e.provider_id = r.provider_id AND e.id >= first_event_id() AND e.resource = r.resource AND e.change = 'resync'
  )
  ORDER BY r.provider_id, r.resource
$$;
--> statement-breakpoint
CREATE FUNCTION record_created() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  total bigint := count_changes();
  changes bigint;
  setting text;
BEGIN
  IF total <= 1000 THEN
    IF total = 0 THEN setting := set_config('change_feed.first_id', nextval('events_id_seq')::text, true); END IF;
    INSERT INTO events (provider_id, at, resource, change, resource_id)
    SELECT n.provider_id, coalesce(s.changed_at, clock_timestamp()), TG_ARGV[0], 'created', n.id
    FROM added n
      LEFT JOIN provider_state s ON s.provider_id = n.provider_id;
    GET DIAGNOSTICS changes = ROW_COUNT;
    total := total + changes;
    setting := set_config('change_feed.changes', total::text, true);
    IF total <= 1000 THEN RETURN NULL; END IF;
  END IF;
  PERFORM record_resync(TG_ARGV[0], ARRAY(
    SELECT DISTINCT n.provider_id
    FROM added n
  ));
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION record_updated() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  total bigint := count_changes();
  changes bigint;
  setting text;
BEGIN
  IF total <= 1000 THEN
    IF total = 0 THEN setting := set_config('change_feed.first_id', nextval('events_id_seq')::text, true); END IF;
    INSERT INTO events (provider_id, at, resource, change, resource_id)
    SELECT n.provider_id, coalesce(s.changed_at, clock_timestamp()), TG_ARGV[0], 'updated', n.id
    FROM added n JOIN gone o ON o.provider_id = n.provider_id AND o.id = n.id
      LEFT JOIN provider_state s ON s.provider_id = n.provider_id
    WHERE n.updated_at <> o.updated_at;
    GET DIAGNOSTICS changes = ROW_COUNT;
    total := total + changes;
    setting := set_config('change_feed.changes', total::text, true);
    IF total <= 1000 THEN RETURN NULL; END IF;
  END IF;
  PERFORM record_resync(TG_ARGV[0], ARRAY(
    SELECT DISTINCT n.provider_id
    FROM added n JOIN gone o ON o.provider_id = n.provider_id AND o.id = n.id
    WHERE n.updated_at <> o.updated_at
  ));
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION record_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  total bigint := count_changes();
  changes bigint;
  setting text;
BEGIN
  IF total <= 1000 THEN
    IF total = 0 THEN setting := set_config('change_feed.first_id', nextval('events_id_seq')::text, true); END IF;
    INSERT INTO events (provider_id, at, resource, change, resource_id)
    SELECT o.provider_id, coalesce(s.changed_at, clock_timestamp()), TG_ARGV[0], 'deleted', o.id
    FROM gone o
      LEFT JOIN provider_state s ON s.provider_id = o.provider_id;
    GET DIAGNOSTICS changes = ROW_COUNT;
    total := total + changes;
    setting := set_config('change_feed.changes', total::text, true);
    IF total <= 1000 THEN RETURN NULL; END IF;
  END IF;
  PERFORM record_resync(TG_ARGV[0], ARRAY(
    SELECT DISTINCT o.provider_id
    FROM gone o
  ));
  RETURN NULL;
END $$;
--> statement-breakpoint
-- A deleted course stays as a row, as a deleted date does.
CREATE FUNCTION record_updated_course() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  total bigint := count_changes();
  changes bigint;
  setting text;
BEGIN
  IF total <= 1000 THEN
    IF total = 0 THEN setting := set_config('change_feed.first_id', nextval('events_id_seq')::text, true); END IF;
    INSERT INTO events (provider_id, at, resource, change, resource_id)
    SELECT n.provider_id, coalesce(s.changed_at, clock_timestamp()), 'course',
      CASE WHEN n.deleted_at IS NOT NULL AND o.deleted_at IS NULL THEN 'deleted' ELSE 'updated' END, n.id
    FROM added n JOIN gone o ON o.provider_id = n.provider_id AND o.id = n.id
      LEFT JOIN provider_state s ON s.provider_id = n.provider_id
    WHERE n.updated_at <> o.updated_at;
    GET DIAGNOSTICS changes = ROW_COUNT;
    total := total + changes;
    setting := set_config('change_feed.changes', total::text, true);
    IF total <= 1000 THEN RETURN NULL; END IF;
  END IF;
  PERFORM record_resync('course', ARRAY(
    SELECT DISTINCT n.provider_id
    FROM added n JOIN gone o ON o.provider_id = n.provider_id AND o.id = n.id
    WHERE n.updated_at <> o.updated_at
  ));
  RETURN NULL;
END $$;
--> statement-breakpoint
-- A statement that changes a date's counters changes nothing else. A second change of a date in the same transaction
-- leaves no second event; one of more than its seats makes the first event an update.
CREATE FUNCTION record_updated_date() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  total bigint := count_changes();
  changes bigint;
  setting text;
BEGIN
  IF total <= 1000 THEN
    IF total = 0 THEN setting := set_config('change_feed.first_id', nextval('events_id_seq')::text, true); END IF;
    INSERT INTO events (provider_id, at, resource, change, resource_id)
    SELECT n.provider_id, coalesce(s.changed_at, clock_timestamp()), 'coursedate',
      CASE WHEN n.deleted_at IS NOT NULL AND o.deleted_at IS NULL THEN 'deleted'
        WHEN (n.num_confirmed, n.num_overbooked, n.num_unconfirmed, n.num_waiting)
          <> (o.num_confirmed, o.num_overbooked, o.num_unconfirmed, o.num_waiting) THEN 'seats_changed'
        ELSE 'updated' END, n.id
    FROM added n JOIN gone o ON o.provider_id = n.provider_id AND o.id = n.id
      LEFT JOIN provider_state s ON s.provider_id = n.provider_id
    WHERE n IS DISTINCT FROM o
      AND NOT EXISTS (
        SELECT FROM events e WHERE e.provider_id = n.provider_id AND e.id >= first_event_id()
          AND e.resource = 'coursedate' AND e.resource_id = n.id
      );
    GET DIAGNOSTICS changes = ROW_COUNT;
    IF changes < (SELECT count(*) FROM added) THEN
      UPDATE events e SET change = CASE WHEN n.deleted_at IS NULL THEN 'updated' ELSE 'deleted' END
      FROM added n JOIN gone o ON o.provider_id = n.provider_id AND o.id = n.id
      WHERE e.provider_id = n.provider_id AND e.id >= first_event_id()
        AND e.resource = 'coursedate' AND e.resource_id = n.id
        AND (e.change = 'seats_changed' OR n.deleted_at IS NOT NULL AND e.change = 'updated')
        AND (n.num_confirmed, n.num_overbooked, n.num_unconfirmed, n.num_waiting)
          = (o.num_confirmed, o.num_overbooked, o.num_unconfirmed, o.num_waiting) AND n IS DISTINCT FROM o;
    END IF;
    total := total + changes;
    setting := set_config('change_feed.changes', total::text, true);
    IF total <= 1000 THEN RETURN NULL; END IF;
  END IF;
  PERFORM record_resync('coursedate', ARRAY(
    SELECT DISTINCT n.provider_id
    FROM added n JOIN gone o ON o.provider_id = n.provider_id AND o.id = n.id
    WHERE n IS DISTINCT FROM o
  ));
  RETURN NULL;
END $$;
--> statement-breakpoint
-- A new sub-school is in the feed of its parent too, whose lock is held.
CREATE FUNCTION record_created_provider() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  total bigint := count_changes();
  changes bigint;
  setting text;
BEGIN
  IF total <= 1000 THEN
    IF total = 0 THEN setting := set_config('change_feed.first_id', nextval('events_id_seq')::text, true); END IF;
    INSERT INTO events (provider_id, at, resource, change, resource_id)
    SELECT reader, coalesce(s.changed_at, clock_timestamp()), 'school', 'created', n.id
    FROM added n CROSS JOIN unnest(ARRAY[n.parent_id, n.id]) reader
      LEFT JOIN provider_state s ON s.provider_id = reader
    WHERE reader IS NOT NULL;
    GET DIAGNOSTICS changes = ROW_COUNT;
    total := total + changes;
    setting := set_config('change_feed.changes', total::text, true);
    IF total <= 1000 THEN RETURN NULL; END IF;
  END IF;
  PERFORM record_resync('school', ARRAY(
    SELECT DISTINCT reader
    FROM added n CROSS JOIN unnest(ARRAY[n.parent_id, n.id]) reader
    WHERE reader IS NOT NULL
  ));
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION record_updated_provider() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  total bigint := count_changes();
  changes bigint;
  setting text;
BEGIN
  IF total <= 1000 THEN
    IF total = 0 THEN setting := set_config('change_feed.first_id', nextval('events_id_seq')::text, true); END IF;
    INSERT INTO events (provider_id, at, resource, change, resource_id)
    SELECT n.id, coalesce(s.changed_at, clock_timestamp()), 'school', 'updated', n.id
    FROM added n JOIN gone o ON o.id = n.id
      LEFT JOIN provider_state s ON s.provider_id = n.id
    WHERE n.updated_at <> o.updated_at;
    GET DIAGNOSTICS changes = ROW_COUNT;
    total := total + changes;
    setting := set_config('change_feed.changes', total::text, true);
    IF total <= 1000 THEN RETURN NULL; END IF;
  END IF;
  PERFORM record_resync('school', ARRAY(
    SELECT DISTINCT n.id
    FROM added n JOIN gone o ON o.id = n.id
    WHERE n.updated_at <> o.updated_at
  ));
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER courses_record_created AFTER INSERT ON courses REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION record_created('course');
--> statement-breakpoint
CREATE TRIGGER courses_record_updated AFTER UPDATE ON courses REFERENCING NEW TABLE AS added OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_updated_course();
--> statement-breakpoint
CREATE TRIGGER courses_record_deleted AFTER DELETE ON courses REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_deleted('course');
--> statement-breakpoint
CREATE TRIGGER course_dates_record_created AFTER INSERT ON course_dates REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION record_created('coursedate');
--> statement-breakpoint
CREATE TRIGGER course_dates_record_updated AFTER UPDATE ON course_dates REFERENCING NEW TABLE AS added OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_updated_date();
--> statement-breakpoint
CREATE TRIGGER course_dates_record_deleted AFTER DELETE ON course_dates REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_deleted('coursedate');
--> statement-breakpoint
CREATE TRIGGER bookings_record_created AFTER INSERT ON bookings REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION record_created('booking');
--> statement-breakpoint
CREATE TRIGGER bookings_record_updated AFTER UPDATE ON bookings REFERENCING NEW TABLE AS added OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_updated('booking');
--> statement-breakpoint
CREATE TRIGGER bookings_record_deleted AFTER DELETE ON bookings REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_deleted('booking');
--> statement-breakpoint
CREATE TRIGGER participants_record_created AFTER INSERT ON participants REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION record_created('participant');
--> statement-breakpoint
CREATE TRIGGER participants_record_updated AFTER UPDATE ON participants REFERENCING NEW TABLE AS added OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_updated('participant');
--> statement-breakpoint
CREATE TRIGGER participants_record_deleted AFTER DELETE ON participants REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_deleted('participant');
--> statement-breakpoint
CREATE TRIGGER orders_record_created AFTER INSERT ON orders REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION record_created('order');
--> statement-breakpoint
CREATE TRIGGER orders_record_updated AFTER UPDATE ON orders REFERENCING NEW TABLE AS added OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_updated('order');
--> statement-breakpoint
CREATE TRIGGER orders_record_deleted AFTER DELETE ON orders REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_deleted('order');
--> statement-breakpoint
CREATE TRIGGER customers_record_created AFTER INSERT ON customers REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION record_created('customer');
--> statement-breakpoint
CREATE TRIGGER customers_record_updated AFTER UPDATE ON customers REFERENCING NEW TABLE AS added OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_updated('customer');
--> statement-breakpoint
CREATE TRIGGER customers_record_deleted AFTER DELETE ON customers REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_deleted('customer');
--> statement-breakpoint
CREATE TRIGGER course_users_record_created AFTER INSERT ON course_users REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION record_created('courseuser');
--> statement-breakpoint
CREATE TRIGGER course_users_record_updated AFTER UPDATE ON course_users REFERENCING NEW TABLE AS added OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_updated('courseuser');
--> statement-breakpoint
CREATE TRIGGER course_users_record_deleted AFTER DELETE ON course_users REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_deleted('courseuser');
--> statement-breakpoint
CREATE TRIGGER instructors_record_created AFTER INSERT ON instructors REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION record_created('instructor');
--> statement-breakpoint
CREATE TRIGGER instructors_record_updated AFTER UPDATE ON instructors REFERENCING NEW TABLE AS added OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_updated('instructor');
--> statement-breakpoint
CREATE TRIGGER instructors_record_deleted AFTER DELETE ON instructors REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_deleted('instructor');
--> statement-breakpoint
CREATE TRIGGER locations_record_created AFTER INSERT ON locations REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION record_created('location');
--> statement-breakpoint
CREATE TRIGGER locations_record_updated AFTER UPDATE ON locations REFERENCING NEW TABLE AS added OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_updated('location');
--> statement-breakpoint
CREATE TRIGGER locations_record_deleted AFTER DELETE ON locations REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_deleted('location');
--> statement-breakpoint
CREATE TRIGGER campaigns_record_created AFTER INSERT ON campaigns REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION record_created('campaign');
--> statement-breakpoint
CREATE TRIGGER campaigns_record_updated AFTER UPDATE ON campaigns REFERENCING NEW TABLE AS added OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_updated('campaign');
--> statement-breakpoint
CREATE TRIGGER campaigns_record_deleted AFTER DELETE ON campaigns REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_deleted('campaign');
--> statement-breakpoint
CREATE TRIGGER tags_record_created AFTER INSERT ON tags REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION record_created('tag');
--> statement-breakpoint
CREATE TRIGGER tags_record_updated AFTER UPDATE ON tags REFERENCING NEW TABLE AS added OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_updated('tag');
--> statement-breakpoint
CREATE TRIGGER tags_record_deleted AFTER DELETE ON tags REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_deleted('tag');
--> statement-breakpoint
CREATE TRIGGER providers_record_created AFTER INSERT ON providers REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION record_created_provider();
--> statement-breakpoint
CREATE TRIGGER providers_record_updated AFTER UPDATE ON providers REFERENCING NEW TABLE AS added OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_updated_provider();
--> statement-breakpoint
-- Each feed has an event to continue from.
INSERT INTO events (provider_id, at, resource, change, resource_id)
  SELECT p.id, s.changed_at, 'school', 'created', p.id FROM providers p JOIN provider_state s ON s.provider_id = p.id
  ORDER BY p.id;
