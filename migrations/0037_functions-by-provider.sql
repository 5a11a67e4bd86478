-- An UPDATE of a distributed table names one provider and takes moments from variables, since it may neither call a
-- function that is not immutable in ON CONFLICT, CASE or COALESCE, nor lock rows of several providers.

-- A usable key, its school and its versions. Two statements, since one with a join would be sent to all servers.
CREATE FUNCTION find_key(key_hash text) RETURNS TABLE (
  provider_id bigint, fairness_key bigint, key_id bigint, profile text, origins text[], is_active boolean,
  quarter text, version text, catalog text, dates text, people text, money text, school text, shared text, stale boolean
) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  key record;
BEGIN
  SELECT k.provider_id, coalesce(r.root_id, r.id) AS fairness_key, k.id, k.profile, k.origins, r.is_active,
    concat_ws(' ', s.changed_at, s.xmin, pg_postmaster_start_time()) AS shared
  INTO key FROM api_keys k JOIN providers r ON r.id = k.provider_id CROSS JOIN service_state s
  WHERE k.hash = key_hash AND r.closed_at IS NULL
    AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now());
  IF NOT FOUND THEN RETURN; END IF;
  RETURN QUERY SELECT key.provider_id, key.fairness_key, key.id, key.profile, key.origins, key.is_active,
    floor(extract(epoch FROM now()) / 900)::text, p.changed_at::text, p.catalog_changed_at::text,
    p.dates_changed_at::text, p.people_changed_at::text, p.money_changed_at::text, p.school_changed_at::text,
    key.shared, coalesce(u.last_used_at < now() - interval '1 minute', true)
  FROM provider_state p LEFT JOIN api_key_uses u ON u.provider_id = p.provider_id AND u.key_id = key.id
  WHERE p.provider_id = key.provider_id;
END $$;
--> statement-breakpoint
-- As in 0003, but by provider, and planned once per connection.
CREATE OR REPLACE FUNCTION change_seats(changes seat_change[]) RETURNS void LANGUAGE plpgsql AS $$
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
-- As in 0032, with the token and the moment in variables.
CREATE OR REPLACE FUNCTION claim_webhooks(slots integer, failing_slots integer, seconds integer, only_id bigint)
RETURNS SETOF webhooks LANGUAGE plpgsql AS $$
DECLARE
  candidate record;
  claimed webhooks;
  counts jsonb := '{}';
  of_host integer;
  of_school integer;
  token text;
  until timestamptz;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7291543020) THEN RETURN; END IF;
  -- A lease is worth no wait for the disk.
  PERFORM set_config('synchronous_commit', 'off', true);
  FOR candidate IN
    WITH current AS (
      -- A lease or pause that ends later than the longest one means that the clock has gone back.
      SELECT w.provider_id, w.id, 'host ' || w.host AS host, 'school ' || coalesce(p.root_id, p.id) AS school, w.due_at,
        w.failing_since IS NOT NULL AS is_failing,
        coalesce(w.leased_until BETWEEN clock_timestamp() AND clock_timestamp() + interval '1 minute', false) AS is_leased,
        CASE WHEN only_id IS NOT NULL THEN w.id = only_id
          ELSE w.is_active AND w.due_at NOT BETWEEN clock_timestamp() AND clock_timestamp() + interval '25 hours'
            AND (w.resyncs <> '{}'
              OR EXISTS (SELECT FROM events e WHERE e.provider_id = w.provider_id AND e.id > w.position)) END AS is_due
      FROM webhooks w JOIN providers p ON p.id = w.provider_id
      WHERE p.closed_at IS NULL
    )
    SELECT *, row_number() OVER (PARTITION BY host, school ORDER BY is_leased DESC, due_at, id) AS turn
    FROM current WHERE is_due OR is_leased
    ORDER BY is_leased DESC, turn, due_at, id
  LOOP
    of_host := coalesce((counts ->> candidate.host)::integer, 0);
    of_school := coalesce((counts ->> candidate.school)::integer, 0);
    IF NOT candidate.is_leased THEN
      EXIT WHEN slots <= 0;
      CONTINUE WHEN of_host >= 2 OR of_school >= 8 OR (candidate.is_failing AND failing_slots <= 0);
      PERFORM FROM webhooks w
      WHERE w.provider_id = candidate.provider_id AND w.id = candidate.id AND (only_id IS NOT NULL OR w.is_active)
      FOR UPDATE SKIP LOCKED;
      CONTINUE WHEN NOT FOUND;
      token := gen_random_uuid();
      until := clock_timestamp() + seconds * interval '1 second';
      UPDATE webhooks w SET leased_by = token, leased_until = until
      WHERE w.provider_id = candidate.provider_id AND w.id = candidate.id
      RETURNING w.* INTO claimed;
      RETURN NEXT claimed;
      slots := slots - 1;
      IF candidate.is_failing THEN failing_slots := failing_slots - 1; END IF;
    END IF;
    counts := counts || jsonb_build_object(candidate.host, of_host + 1, candidate.school, of_school + 1);
  END LOOP;
END $$;
