CREATE INDEX "gatherings_location" ON "gatherings" USING btree ("provider_id","location_id") WHERE "gatherings"."location_id" is not null and "gatherings"."deleted_at" is null;
--> statement-breakpoint
-- As in 0027, but with plans that suit any number of rows, since PostgreSQL plans each statement once per connection:
-- a FULL JOIN, which is never a nested loop, of the transition tables, and a scalar subquery for the provider's clock.
CREATE OR REPLACE FUNCTION record_created() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  total bigint := count_changes();
  changes bigint;
  setting text;
BEGIN
  IF total <= 1000 THEN
    IF total = 0 THEN setting := set_config('change_feed.first_id', nextval('events_id_seq')::text, true); END IF;
    INSERT INTO events (provider_id, at, resource, change, resource_id)
    SELECT n.provider_id,
      coalesce((SELECT s.changed_at FROM provider_state s WHERE s.provider_id = n.provider_id), clock_timestamp()),
      TG_ARGV[0], 'created', n.id
    FROM added n;
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
CREATE OR REPLACE FUNCTION record_updated() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  total bigint := count_changes();
  changes bigint;
  setting text;
BEGIN
  IF total <= 1000 THEN
    IF total = 0 THEN setting := set_config('change_feed.first_id', nextval('events_id_seq')::text, true); END IF;
    INSERT INTO events (provider_id, at, resource, change, resource_id)
    SELECT n.provider_id,
      coalesce((SELECT s.changed_at FROM provider_state s WHERE s.provider_id = n.provider_id), clock_timestamp()),
      TG_ARGV[0], 'updated', n.id
    FROM added n FULL JOIN gone o ON o.provider_id = n.provider_id AND o.id = n.id
    WHERE n.updated_at IS DISTINCT FROM o.updated_at;
    GET DIAGNOSTICS changes = ROW_COUNT;
    total := total + changes;
    setting := set_config('change_feed.changes', total::text, true);
    IF total <= 1000 THEN RETURN NULL; END IF;
  END IF;
  PERFORM record_resync(TG_ARGV[0], ARRAY(
    SELECT DISTINCT n.provider_id
    FROM added n FULL JOIN gone o ON o.provider_id = n.provider_id AND o.id = n.id
    WHERE n.updated_at IS DISTINCT FROM o.updated_at
  ));
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION record_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  total bigint := count_changes();
  changes bigint;
  setting text;
BEGIN
  IF total <= 1000 THEN
    IF total = 0 THEN setting := set_config('change_feed.first_id', nextval('events_id_seq')::text, true); END IF;
    INSERT INTO events (provider_id, at, resource, change, resource_id)
    SELECT o.provider_id,
      coalesce((SELECT s.changed_at FROM provider_state s WHERE s.provider_id = o.provider_id), clock_timestamp()),
      TG_ARGV[0], 'deleted', o.id
    FROM gone o;
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
CREATE OR REPLACE FUNCTION record_updated_course() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  total bigint := count_changes();
  changes bigint;
  setting text;
BEGIN
  IF total <= 1000 THEN
    IF total = 0 THEN setting := set_config('change_feed.first_id', nextval('events_id_seq')::text, true); END IF;
    INSERT INTO events (provider_id, at, resource, change, resource_id)
    SELECT n.provider_id,
      coalesce((SELECT s.changed_at FROM provider_state s WHERE s.provider_id = n.provider_id), clock_timestamp()),
      'course', CASE WHEN n.deleted_at IS NOT NULL AND o.deleted_at IS NULL THEN 'deleted' ELSE 'updated' END, n.id
    FROM added n FULL JOIN gone o ON o.provider_id = n.provider_id AND o.id = n.id
    WHERE n.updated_at IS DISTINCT FROM o.updated_at;
    GET DIAGNOSTICS changes = ROW_COUNT;
    total := total + changes;
    setting := set_config('change_feed.changes', total::text, true);
    IF total <= 1000 THEN RETURN NULL; END IF;
  END IF;
  PERFORM record_resync('course', ARRAY(
    SELECT DISTINCT n.provider_id
    FROM added n FULL JOIN gone o ON o.provider_id = n.provider_id AND o.id = n.id
    WHERE n.updated_at IS DISTINCT FROM o.updated_at
  ));
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION record_updated_date() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  total bigint := count_changes();
  changes bigint;
  setting text;
BEGIN
  IF total <= 1000 THEN
    IF total = 0 THEN setting := set_config('change_feed.first_id', nextval('events_id_seq')::text, true); END IF;
    INSERT INTO events (provider_id, at, resource, change, resource_id)
    SELECT n.provider_id,
      coalesce((SELECT s.changed_at FROM provider_state s WHERE s.provider_id = n.provider_id), clock_timestamp()),
      'coursedate', CASE WHEN n.deleted_at IS NOT NULL AND o.deleted_at IS NULL THEN 'deleted'
        WHEN (n.num_confirmed, n.num_overbooked, n.num_unconfirmed, n.num_waiting)
          <> (o.num_confirmed, o.num_overbooked, o.num_unconfirmed, o.num_waiting) THEN 'seats_changed'
        ELSE 'updated' END, n.id
    FROM added n FULL JOIN gone o ON o.provider_id = n.provider_id AND o.id = n.id
    WHERE n IS DISTINCT FROM o
      AND (count_changes() = 0 OR NOT EXISTS (
        SELECT FROM events e WHERE e.provider_id = n.provider_id AND e.id >= first_event_id()
          AND e.resource = 'coursedate' AND e.resource_id = n.id
      ))
    -- Looks at all rows before it inserts the first event.
    ORDER BY n.id;
    GET DIAGNOSTICS changes = ROW_COUNT;
    total := total + changes;
    setting := set_config('change_feed.changes', total::text, true);
    IF total <= 1000 THEN
      IF changes < (SELECT count(*) FROM added) THEN
        UPDATE events e SET change = CASE WHEN n.is_deleted THEN 'deleted' ELSE 'updated' END
        FROM (
          SELECT n.provider_id, n.id, n.deleted_at IS NOT NULL AND o.deleted_at IS NULL AS is_deleted
          FROM added n FULL JOIN gone o ON o.provider_id = n.provider_id AND o.id = n.id
          WHERE (n.num_confirmed, n.num_overbooked, n.num_unconfirmed, n.num_waiting)
            IS NOT DISTINCT FROM (o.num_confirmed, o.num_overbooked, o.num_unconfirmed, o.num_waiting)
            AND n IS DISTINCT FROM o
          OFFSET 0
        ) n
        WHERE e.provider_id = ANY (ARRAY(SELECT DISTINCT a.provider_id FROM added a)) AND e.id >= first_event_id()
          AND e.provider_id = n.provider_id AND e.resource = 'coursedate' AND e.resource_id = n.id
          AND (e.change = 'seats_changed' OR n.is_deleted AND e.change = 'updated');
      END IF;
      RETURN NULL;
    END IF;
  END IF;
  PERFORM record_resync('coursedate', ARRAY(
    SELECT DISTINCT n.provider_id
    FROM added n FULL JOIN gone o ON o.provider_id = n.provider_id AND o.id = n.id
    WHERE n IS DISTINCT FROM o
  ));
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION record_updated_provider() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  total bigint := count_changes();
  changes bigint;
  setting text;
BEGIN
  IF total <= 1000 THEN
    IF total = 0 THEN setting := set_config('change_feed.first_id', nextval('events_id_seq')::text, true); END IF;
    INSERT INTO events (provider_id, at, resource, change, resource_id)
    SELECT n.id,
      coalesce((SELECT s.changed_at FROM provider_state s WHERE s.provider_id = n.id), clock_timestamp()),
      'school', 'updated', n.id
    FROM added n FULL JOIN gone o ON o.id = n.id
    WHERE n.updated_at IS DISTINCT FROM o.updated_at;
    GET DIAGNOSTICS changes = ROW_COUNT;
    total := total + changes;
    setting := set_config('change_feed.changes', total::text, true);
    IF total <= 1000 THEN RETURN NULL; END IF;
  END IF;
  PERFORM record_resync('school', ARRAY(
    SELECT DISTINCT n.id
    FROM added n FULL JOIN gone o ON o.id = n.id
    WHERE n.updated_at IS DISTINCT FROM o.updated_at
  ));
  RETURN NULL;
END $$;
