-- Seat counters stand on the course date and are kept by differences: right for a booking, an import and a statement
-- typed by hand, and right even for a writer without the provider's lock.
CREATE TYPE seat_change AS (provider_id bigint, course_date_id bigint, confirmed int, overbooked int, unconfirmed int, waiting int);
--> statement-breakpoint
CREATE FUNCTION change_seats(changes seat_change[]) RETURNS void LANGUAGE sql AS $$
  WITH changed AS (
    SELECT * FROM unnest(changes) WHERE (confirmed, overbooked, unconfirmed, waiting) <> (0, 0, 0, 0)
  ), locked AS MATERIALIZED (
    -- One order for all writers, so that two of them never wait for each other.
    SELECT d.provider_id, d.id FROM course_dates d JOIN changed c ON c.provider_id = d.provider_id AND c.course_date_id = d.id
    ORDER BY d.provider_id, d.id FOR NO KEY UPDATE OF d
  )
  UPDATE course_dates d SET
    num_confirmed = num_confirmed + c.confirmed,
    num_overbooked = num_overbooked + c.overbooked,
    num_unconfirmed = num_unconfirmed + c.unconfirmed,
    num_waiting = num_waiting + c.waiting,
    updated_at = greatest(d.updated_at, s.changed_at)
  FROM changed c
    JOIN locked l ON l.provider_id = c.provider_id AND l.id = c.course_date_id
    JOIN provider_state s ON s.provider_id = c.provider_id
  WHERE d.provider_id = c.provider_id AND d.id = c.course_date_id
$$;
--> statement-breakpoint
CREATE FUNCTION participants_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM change_seats(ARRAY(
    SELECT (provider_id, course_date_id, count(*) FILTER (WHERE status_id = 1), count(*) FILTER (WHERE status_id = 2),
      count(*) FILTER (WHERE status_id = 7), count(*) FILTER (WHERE status_id = 3))::seat_change
    FROM added GROUP BY provider_id, course_date_id));
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION participants_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM change_seats(ARRAY(
    SELECT (provider_id, course_date_id, sum(seats * (status_id = 1)::int), sum(seats * (status_id = 2)::int),
      sum(seats * (status_id = 7)::int), sum(seats * (status_id = 3)::int))::seat_change
    FROM (SELECT provider_id, course_date_id, status_id, 1 AS seats FROM added
      UNION ALL SELECT provider_id, course_date_id, status_id, -1 FROM gone) moved
    GROUP BY provider_id, course_date_id));
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION participants_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM change_seats(ARRAY(
    SELECT (provider_id, course_date_id, -count(*) FILTER (WHERE status_id = 1), -count(*) FILTER (WHERE status_id = 2),
      -count(*) FILTER (WHERE status_id = 7), -count(*) FILTER (WHERE status_id = 3))::seat_change
    FROM gone GROUP BY provider_id, course_date_id));
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER participants_inserted AFTER INSERT ON participants REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION participants_inserted();
--> statement-breakpoint
CREATE TRIGGER participants_updated AFTER UPDATE ON participants REFERENCING NEW TABLE AS added OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION participants_updated();
--> statement-breakpoint
CREATE TRIGGER participants_deleted AFTER DELETE ON participants REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION participants_deleted();
--> statement-breakpoint
-- Room on each page for the updates of the counters, which then touch no index but that of updated_at.
ALTER TABLE course_dates SET (fillfactor = 85);
