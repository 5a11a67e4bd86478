CREATE TYPE seat_change AS (provider_id bigint, course_date_id bigint, confirmed int, overbooked int, unconfirmed int, waiting int);
--> statement-breakpoint
-- Seat counters stand on the course date and are kept by differences: right for a booking, an import and a statement
-- typed by hand, and right even for a writer without the provider's lock. By provider, and planned once per connection.
CREATE FUNCTION change_seats(changes seat_change[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  provider bigint;
  dates bigint[];
  moment timestamptz;
BEGIN
  FOR provider, dates IN
    SELECT c.provider_id, array_agg(c.course_date_id) FROM unnest(changes) c
    WHERE (c.confirmed, c.overbooked, c.unconfirmed, c.waiting) <> (0, 0, 0, 0)
    GROUP BY c.provider_id ORDER BY c.provider_id
  LOOP
    -- One order for all writers, so that two of them never wait for each other.
    PERFORM FROM course_dates d WHERE d.provider_id = provider AND d.id = ANY (dates) ORDER BY d.id FOR NO KEY UPDATE;
    SELECT s.changed_at INTO moment FROM provider_state s WHERE s.provider_id = provider;
    UPDATE course_dates d SET
      num_confirmed = num_confirmed + c.confirmed,
      num_overbooked = num_overbooked + c.overbooked,
      num_unconfirmed = num_unconfirmed + c.unconfirmed,
      num_waiting = num_waiting + c.waiting,
      updated_at = greatest(d.updated_at, moment)
    FROM unnest(changes) c
    WHERE d.provider_id = provider AND c.provider_id = provider AND d.id = c.course_date_id
      AND (c.confirmed, c.overbooked, c.unconfirmed, c.waiting) <> (0, 0, 0, 0);
  END LOOP;
END $$;
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
-- Earlier versions of the service and statements typed by hand move changed_at alone; then every area may have changed.
CREATE FUNCTION move_area_clocks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.catalog_changed_at := NEW.changed_at;
  NEW.dates_changed_at := NEW.changed_at;
  NEW.people_changed_at := NEW.changed_at;
  NEW.money_changed_at := NEW.changed_at;
  NEW.school_changed_at := NEW.changed_at;
  RETURN NEW;
END $$;
--> statement-breakpoint
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
-- Plans that suit any number of rows, since PostgreSQL plans each statement once per connection: a FULL JOIN, which is
-- never a nested loop, of the transition tables, and a scalar subquery for the provider's clock.
CREATE FUNCTION record_created() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE FUNCTION record_updated() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE FUNCTION record_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
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
--> statement-breakpoint
-- An audit entry on shared data has no provider.
CREATE FUNCTION set_provider_of_shared_data() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.provider_id := 0;
  RETURN NEW;
END $$;
--> statement-breakpoint
-- The locks read the clock after the wait.
CREATE FUNCTION set_clocks(provider bigint, areas text[], moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE provider_state SET changed_at = moment,
    catalog_changed_at = CASE WHEN 'catalog' = ANY (areas) THEN moment ELSE catalog_changed_at END,
    dates_changed_at = CASE WHEN 'dates' = ANY (areas) THEN moment ELSE dates_changed_at END,
    people_changed_at = CASE WHEN 'people' = ANY (areas) THEN moment ELSE people_changed_at END,
    money_changed_at = CASE WHEN 'money' = ANY (areas) THEN moment ELSE money_changed_at END,
    school_changed_at = CASE WHEN 'school' = ANY (areas) THEN moment ELSE school_changed_at END
  WHERE provider_id = provider;
END $$;
--> statement-breakpoint
-- Null for a provider without a row, which then locks nothing.
CREATE FUNCTION lock_provider(provider bigint, areas text[]) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz;
BEGIN
  SELECT changed_at INTO moment FROM provider_state WHERE provider_id = provider FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  moment := greatest(clock_timestamp(), moment + interval '1 microsecond');
  PERFORM set_clocks(provider, areas, moment);
  RETURN moment;
END $$;
--> statement-breakpoint
-- In ascending order; all of them are set to one moment. A function of its own: its loops cost 0.03 ms.
CREATE FUNCTION lock_providers(providers bigint[], areas text[]) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  sorted bigint[] := ARRAY(SELECT DISTINCT p FROM unnest(providers) p ORDER BY p);
  provider bigint;
  locked timestamptz;
  moment timestamptz;
BEGIN
  FOREACH provider IN ARRAY sorted LOOP
    SELECT changed_at INTO locked FROM provider_state WHERE provider_id = provider FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    moment := greatest(moment, locked);
  END LOOP;
  moment := greatest(clock_timestamp(), moment + interval '1 microsecond');
  FOREACH provider IN ARRAY sorted LOOP
    PERFORM set_clocks(provider, areas, moment);
  END LOOP;
  RETURN moment;
END $$;
--> statement-breakpoint
CREATE FUNCTION lock_shared() RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz;
BEGIN
  SELECT changed_at INTO moment FROM service_state WHERE id = 1 FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  moment := greatest(clock_timestamp(), moment + interval '1 microsecond');
  UPDATE service_state SET changed_at = moment WHERE id = 1;
  RETURN moment;
END $$;
--> statement-breakpoint
-- A usable key, its school and its versions: the statement that every request runs. A function of one SELECT is inlined
-- into it, so each connection plans the join once; as PL/pgSQL it took two statements and a result set of its own.
CREATE FUNCTION find_key(key_hash text) RETURNS TABLE (
  provider_id bigint, fairness_key bigint, key_id bigint, profile text, origins text[], is_active boolean,
  quarter text, version text, catalog text, dates text, people text, money text, school text, shared text, stale boolean
) LANGUAGE sql STABLE AS $$
  SELECT k.provider_id, coalesce(r.root_id, r.id), k.id, k.profile, k.origins, r.is_active,
    floor(extract(epoch FROM now()) / 900)::text, p.changed_at::text, p.catalog_changed_at::text,
    p.dates_changed_at::text, p.people_changed_at::text, p.money_changed_at::text, p.school_changed_at::text,
    concat_ws(' ', s.changed_at, s.xmin, pg_postmaster_start_time()),
    coalesce(u.last_used_at < now() - interval '1 minute', true)
  FROM api_keys k
    JOIN providers r ON r.id = k.provider_id
    JOIN provider_state p ON p.provider_id = k.provider_id
    LEFT JOIN api_key_uses u ON u.provider_id = k.provider_id AND u.key_id = k.id
    CROSS JOIN service_state s
  WHERE k.hash = key_hash AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
    AND r.closed_at IS NULL
$$;
--> statement-breakpoint
-- Counts an attempt to sign on; false if ten have failed in the window or are pending. Pending ones are ignored after
-- 30 seconds, which is longer than any attempt: their process died.
CREATE FUNCTION begin_sign_on(provider bigint, hashed_name text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := now();
  expired timestamptz := now() - interval '15 minutes';
  abandoned timestamptz := now() - interval '30 seconds';
BEGIN
  INSERT INTO sign_on_failures AS f (provider_id, username_hash, window_started_at, failures, pending, attempted_at)
  VALUES (provider, hashed_name, moment, 0, 1, moment)
  ON CONFLICT (provider_id, username_hash) DO UPDATE SET
    window_started_at = CASE WHEN f.window_started_at <= expired THEN moment ELSE f.window_started_at END,
    failures = CASE WHEN f.window_started_at <= expired THEN 0 ELSE f.failures END,
    pending = CASE WHEN f.attempted_at <= abandoned THEN 0 ELSE f.pending END + 1,
    attempted_at = moment
  WHERE CASE WHEN f.window_started_at <= expired THEN 0 ELSE f.failures END
    + CASE WHEN f.attempted_at <= abandoned THEN 0 ELSE f.pending END < 10;
  RETURN FOUND;
END $$;
--> statement-breakpoint
CREATE FUNCTION fail_sign_on(provider bigint, hashed_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := now();
  expired timestamptz := now() - interval '15 minutes';
BEGIN
  UPDATE sign_on_failures f SET
    pending = greatest(0, f.pending - 1),
    failures = CASE WHEN f.window_started_at <= expired THEN 0 ELSE f.failures END + 1,
    window_started_at = CASE WHEN f.window_started_at <= expired OR f.failures = 0 THEN moment ELSE f.window_started_at END
  WHERE f.provider_id = provider AND f.username_hash = hashed_name;
END $$;
--> statement-breakpoint
-- Leases due mails. A later due time before the first attempt, or one beyond the longest pause, means that the clock has
-- gone back.
CREATE FUNCTION claim_mails(slots integer, fairness_keys bigint[], counts integer[], turns integer[])
RETURNS TABLE (provider_id bigint, id bigint, attempts integer, due_at timestamptz, fairness_key bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := now();
  latest timestamptz := now() + interval '7 hours';
  lease timestamptz := now() + interval '2 minutes';
  school bigint := 0;
  school_key bigint;
  schools bigint[] := '{}';
  school_keys bigint[] := '{}';
  mails bigint[] := '{}';
  due timestamptz[] := '{}';
  candidate record;
  attempt integer;
BEGIN
  -- One step per school with unsent mails, however many it has.
  LOOP
    SELECT min(o.provider_id) INTO school FROM outbox o
    WHERE o.sent_at IS NULL AND o.failed_at IS NULL AND o.provider_id > school;
    EXIT WHEN school IS NULL;
    SELECT coalesce(p.root_id, p.id) INTO school_key FROM providers p WHERE p.id = school AND p.closed_at IS NULL;
    CONTINUE WHEN NOT FOUND;
    FOR candidate IN
      SELECT o.id, o.due_at FROM outbox o
      WHERE o.provider_id = school AND o.sent_at IS NULL AND o.failed_at IS NULL
        AND (o.due_at <= moment OR (o.attempts = 0 AND o.last_error IS NULL) OR o.due_at > latest)
      ORDER BY o.due_at, o.id LIMIT 20
    LOOP
      schools := array_append(schools, school);
      school_keys := array_append(school_keys, school_key);
      mails := array_append(mails, candidate.id);
      due := array_append(due, candidate.due_at);
    END LOOP;
  END LOOP;
  FOR candidate IN
    SELECT c.school, c.fairness_key, c.mail, coalesce(t.sending, 0)
      + row_number() OVER (PARTITION BY c.fairness_key ORDER BY c.due_at, c.mail) AS turn
    FROM unnest(schools, school_keys, mails, due) c (school, fairness_key, mail, due_at)
      LEFT JOIN unnest(fairness_keys, counts, turns) t (fairness_key, sending, last_turn)
        ON t.fairness_key = c.fairness_key
    ORDER BY turn, coalesce(t.last_turn, 0), c.due_at, c.mail
  LOOP
    EXIT WHEN slots <= 0;
    PERFORM FROM outbox o
    WHERE o.provider_id = candidate.school AND o.id = candidate.mail AND o.sent_at IS NULL AND o.failed_at IS NULL
      AND (o.due_at <= moment OR (o.attempts = 0 AND o.last_error IS NULL) OR o.due_at > latest)
    FOR UPDATE SKIP LOCKED;
    CONTINUE WHEN NOT FOUND;
    UPDATE outbox o SET attempts = o.attempts + 1, due_at = lease, last_error = NULL
    WHERE o.provider_id = candidate.school AND o.id = candidate.mail
    RETURNING o.attempts INTO attempt;
    slots := slots - 1;
    RETURN QUERY SELECT candidate.school, candidate.mail, attempt, lease, candidate.fairness_key;
  END LOOP;
END $$;
--> statement-breakpoint
CREATE FUNCTION renew_webhook_leases(seconds integer, providers bigint[], tokens text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  until timestamptz := clock_timestamp() + seconds * interval '1 second';
BEGIN
  -- A lease is worth no wait for the disk.
  PERFORM set_config('synchronous_commit', 'off', true);
  FOR n IN 1 .. cardinality(tokens) LOOP
    UPDATE webhooks SET leased_until = until WHERE provider_id = providers[n] AND leased_by = tokens[n];
  END LOOP;
END $$;
--> statement-breakpoint
-- Makes the transaction leave one resync per resource of the provider: for one of the many transactions of a large import.
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
-- Inserts an event of the transaction or, after 1,000 of the school, one resync per resource. A later update of a date
-- changes its first event instead. A transaction that alternates between schools counts anew at each change.
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
-- Inserts the event of a school where its table has no trigger. A new sub-school is in the feed of its parent too.
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
--> statement-breakpoint
-- Once per transaction and provider.
CREATE FUNCTION record_wakeup() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('change_feed.woken', true) IS NOT DISTINCT FROM NEW.provider_id::text THEN RETURN NULL; END IF;
  PERFORM FROM webhooks w WHERE w.provider_id = NEW.provider_id LIMIT 1;
  IF FOUND THEN INSERT INTO webhook_wakeups (provider_id) VALUES (NEW.provider_id); END IF;
  PERFORM set_config('change_feed.woken', NEW.provider_id::text, true);
  RETURN NULL;
END $$;
--> statement-breakpoint
-- Marks the webhooks of providers with new events, under the advisory lock of claim_webhooks. Returns the number of deleted
-- rows. A provider whose webhooks another transaction has locked is left for the next call.
CREATE FUNCTION wake_webhooks() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  provider bigint;
  wakeups bigint[];
  sleeping bigint;
  locked bigint;
  total integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(7291543020);
  FOR provider, wakeups IN
    SELECT u.provider_id, array_agg(u.id)
    FROM (SELECT w.provider_id, w.id FROM webhook_wakeups w ORDER BY w.provider_id, w.id LIMIT 10000) u
    GROUP BY u.provider_id
  LOOP
    SELECT count(*) INTO sleeping FROM webhooks w WHERE w.provider_id = provider AND NOT w.is_waiting;
    IF sleeping > 0 THEN
      PERFORM FROM webhooks w WHERE w.provider_id = provider AND NOT w.is_waiting FOR UPDATE SKIP LOCKED;
      GET DIAGNOSTICS locked = ROW_COUNT;
      CONTINUE WHEN locked < sleeping;
      UPDATE webhooks w SET is_waiting = true WHERE w.provider_id = provider AND NOT w.is_waiting;
    END IF;
    DELETE FROM webhook_wakeups w WHERE w.provider_id = provider AND w.id = ANY (wakeups);
    total := total + cardinality(wakeups);
  END LOOP;
  RETURN total;
END $$;
--> statement-breakpoint
-- Leases due webhooks with waiting messages, each under a new token. One claim at a time, so that its limits hold for all
-- processes and no event is missed while a webhook is marked as not waiting. A school with its sub-schools gets a place if
-- it has none, else while fewer are its own than are free, eight at most. On a host it gets one if it has none, else a second one
-- if no other school has one or waits there. Slow endpoints, and failing ones, have places of their own. Each school's
-- first webhook is before the second of any.
CREATE FUNCTION claim_webhooks(slots integer, failing_slots integer, slow_slots integer, seconds integer)
RETURNS SETOF webhooks LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  candidate record;
  claimed webhooks;
  counts jsonb := '{}';
  moment timestamptz := clock_timestamp();
  -- A lease or pause that ends later than the longest one means that the clock has gone back.
  latest_lease timestamptz := moment + interval '1 minute';
  latest_pause timestamptz := moment + interval '25 hours';
  of_host integer;
  of_host_and_school integer;
  of_school integer;
  of_lane integer;
  free integer;
  idle integer := 0;
  token text;
  until timestamptz;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7291543020) THEN RETURN; END IF;
  -- A lease is worth no wait for the disk.
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM wake_webhooks();
  FOR candidate IN
    WITH current AS (
      SELECT w.provider_id, w.id, w.host, coalesce(p.root_id, p.id) AS school, w.due_at,
        CASE WHEN w.slow_attempts >= 3 THEN 'slow' WHEN w.failing_since IS NOT NULL THEN 'failing' ELSE 'working' END AS lane,
        coalesce(w.leased_until BETWEEN moment AND latest_lease, false) AS is_leased
      FROM webhooks w JOIN providers p ON p.id = w.provider_id
      WHERE w.is_active AND (w.is_waiting OR w.resyncs <> '{}') AND (w.due_at <= moment OR w.due_at > latest_pause)
        AND p.closed_at IS NULL
    )
    SELECT *, row_number() OVER (PARTITION BY school ORDER BY is_leased DESC, due_at, id) AS turn,
      min(school) OVER (PARTITION BY host) <> max(school) OVER (PARTITION BY host) AS is_shared
    FROM current
    ORDER BY is_leased DESC, turn, due_at, id
  LOOP
    of_host := coalesce((counts ->> ('host ' || candidate.host))::integer, 0);
    of_host_and_school := coalesce((counts ->> concat_ws(' ', 'host', candidate.school, candidate.host))::integer, 0);
    of_school := coalesce((counts ->> ('school ' || candidate.school))::integer, 0);
    of_lane := coalesce((counts ->> concat_ws(' ', 'lane', candidate.school, candidate.lane))::integer, 0);
    IF NOT candidate.is_leased THEN
      EXIT WHEN (slots <= 0 AND slow_slots <= 0) OR idle >= 1000;
      free := CASE candidate.lane WHEN 'slow' THEN slow_slots WHEN 'failing' THEN least(slots, failing_slots) ELSE slots END;
      CONTINUE WHEN free <= 0 OR (of_lane > 0 AND of_lane >= free) OR (of_school >= 8 AND candidate.lane <> 'slow')
        OR (of_host_and_school > 0 AND (of_host >= 2 OR candidate.is_shared));
      SELECT w.* INTO claimed FROM webhooks w
      WHERE w.provider_id = candidate.provider_id AND w.id = candidate.id AND w.is_active
      FOR UPDATE SKIP LOCKED;
      CONTINUE WHEN NOT FOUND;
      PERFORM FROM events e WHERE e.provider_id = candidate.provider_id AND e.id > claimed.position LIMIT 1;
      IF NOT FOUND AND claimed.resyncs = '{}' THEN
        UPDATE webhooks w SET is_waiting = false WHERE w.provider_id = candidate.provider_id AND w.id = candidate.id;
        idle := idle + 1;
        CONTINUE;
      END IF;
      token := gen_random_uuid();
      until := clock_timestamp() + seconds * interval '1 second';
      UPDATE webhooks w SET leased_by = token, leased_until = until
      WHERE w.provider_id = candidate.provider_id AND w.id = candidate.id
      RETURNING w.* INTO claimed;
      RETURN NEXT claimed;
      IF candidate.lane = 'slow' THEN
        slow_slots := slow_slots - 1;
      ELSE
        slots := slots - 1;
        IF candidate.lane = 'failing' THEN failing_slots := failing_slots - 1; END IF;
      END IF;
    END IF;
    counts := counts || jsonb_build_object(
      'host ' || candidate.host, of_host + 1,
      concat_ws(' ', 'host', candidate.school, candidate.host), of_host_and_school + 1,
      concat_ws(' ', 'lane', candidate.school, candidate.lane), of_lane + 1);
    IF candidate.lane <> 'slow' THEN
      counts := counts || jsonb_build_object('school ' || candidate.school, of_school + 1);
    END IF;
  END LOOP;
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
CREATE TRIGGER provider_state_area_clocks BEFORE UPDATE ON provider_state FOR EACH ROW
WHEN (
  NEW.changed_at IS DISTINCT FROM OLD.changed_at
  AND NEW.catalog_changed_at IS NOT DISTINCT FROM OLD.catalog_changed_at
  AND NEW.dates_changed_at IS NOT DISTINCT FROM OLD.dates_changed_at
  AND NEW.people_changed_at IS NOT DISTINCT FROM OLD.people_changed_at
  AND NEW.money_changed_at IS NOT DISTINCT FROM OLD.money_changed_at
  AND NEW.school_changed_at IS NOT DISTINCT FROM OLD.school_changed_at
) EXECUTE FUNCTION move_area_clocks();
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
CREATE TRIGGER audit_entries_shared_data BEFORE INSERT ON "audit_entries" FOR EACH ROW
WHEN (NEW.provider_id IS NULL) EXECUTE FUNCTION set_provider_of_shared_data();
--> statement-breakpoint
CREATE TRIGGER "events_wakeup" AFTER INSERT ON "events" FOR EACH ROW EXECUTE FUNCTION record_wakeup();
