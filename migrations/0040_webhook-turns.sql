CREATE TABLE "webhook_tests" (
	"provider_id" bigint NOT NULL,
	"token" text NOT NULL,
	"started_at" timestamp(6) with time zone NOT NULL,
	"expires_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "webhook_tests_pk" PRIMARY KEY("provider_id")
);
--> statement-breakpoint
CREATE TABLE "webhook_wakeups" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "webhook_wakeups_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	CONSTRAINT "webhook_wakeups_pk" PRIMARY KEY("provider_id","id")
);
--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "is_waiting" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "slow_attempts" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_tests" ADD CONSTRAINT "webhook_tests_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhooks_due" ON "webhooks" USING btree ("due_at") WHERE "webhooks"."is_active" and ("webhooks"."is_waiting" or "webhooks"."resyncs" <> '{}');--> statement-breakpoint
ALTER TABLE "webhook_wakeups" ALTER COLUMN "provider_id" SET (n_distinct = 20);--> statement-breakpoint
ALTER TABLE "webhook_tests" ALTER COLUMN "provider_id" SET (n_distinct = 20);--> statement-breakpoint
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
CREATE TRIGGER "events_wakeup" AFTER INSERT ON "events" FOR EACH ROW EXECUTE FUNCTION record_wakeup();
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
DROP FUNCTION claim_webhooks(integer, integer, integer, bigint);
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
