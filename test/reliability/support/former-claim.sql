-- The former claim of webhooks, which looks at all of them.
CREATE FUNCTION former_claim_webhooks(slots integer, failing_slots integer, seconds integer, only_id bigint)
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
