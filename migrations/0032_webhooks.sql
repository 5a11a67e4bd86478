CREATE TABLE "webhook_deliveries" (
	"provider_id" bigint NOT NULL,
	"webhook_id" bigint NOT NULL,
	"slot" integer NOT NULL,
	"number" bigint NOT NULL,
	"at" timestamp(6) with time zone NOT NULL,
	"message_id" text NOT NULL,
	"type" text NOT NULL,
	"status_code" integer,
	"duration_ms" integer NOT NULL,
	"error" text,
	CONSTRAINT "webhook_deliveries_pk" PRIMARY KEY("provider_id","webhook_id","slot")
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "webhooks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"url" text NOT NULL,
	"host" text NOT NULL,
	"types" text[],
	"description" text DEFAULT '' NOT NULL,
	"payload" text DEFAULT 'full' NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"secret" text NOT NULL,
	"previous_secret" text,
	"previous_secret_expires_at" timestamp(6) with time zone,
	"position" bigint NOT NULL,
	"position_clock" bigint NOT NULL,
	"resyncs" text[] DEFAULT '{}' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failing_since" timestamp(6) with time zone,
	"due_at" timestamp(6) with time zone NOT NULL,
	"leased_by" text,
	"leased_until" timestamp(6) with time zone,
	"attempt_count" bigint DEFAULT 0 NOT NULL,
	"disabled_at" timestamp(6) with time zone,
	"disabled_reason" text,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "webhooks_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "webhooks_payload" CHECK ("webhooks"."payload" in ('full', 'thin')),
	CONSTRAINT "webhooks_disabled" CHECK (("webhooks"."disabled_at" is null) = ("webhooks"."disabled_reason" is null)),
	CONSTRAINT "webhooks_previous_secret" CHECK (("webhooks"."previous_secret" is null) = ("webhooks"."previous_secret_expires_at" is null))
);
--> statement-breakpoint
ALTER TABLE "outbox" DROP CONSTRAINT "outbox_person";--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "webhook_id" bigint;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhook_fk" FOREIGN KEY ("provider_id","webhook_id") REFERENCES "public"."webhooks"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_webhook" CHECK (("outbox"."webhook_id" is not null) = ("outbox"."purpose" = 'webhook_disabled'));--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_person" CHECK (num_nonnulls("outbox"."user_id", "outbox"."admin_user_id") = 1 or "outbox"."user_id" is null and "outbox"."purpose" = 'webhook_disabled');--> statement-breakpoint
ALTER TABLE "webhooks" ALTER COLUMN "provider_id" SET (n_distinct = 20);--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ALTER COLUMN "provider_id" SET (n_distinct = 20);--> statement-breakpoint
-- Leases due webhooks with waiting messages, or one webhook whether it is due or not, each under a new token: at most two
-- of a host, which get one message at a time, and eight of a school and its sub-schools. On a host each school's first
-- webhook is before the second of any. One claim at a time, so that these limits hold for all processes.
CREATE FUNCTION claim_webhooks(slots integer, failing_slots integer, seconds integer, only_id bigint)
RETURNS SETOF webhooks LANGUAGE plpgsql AS $$
DECLARE
  candidate record;
  claimed webhooks;
  counts jsonb := '{}';
  of_host integer;
  of_school integer;
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
      UPDATE webhooks w
      SET leased_by = gen_random_uuid(), leased_until = clock_timestamp() + seconds * interval '1 second'
      FROM (
        SELECT provider_id, id FROM webhooks
        WHERE provider_id = candidate.provider_id AND id = candidate.id AND (only_id IS NOT NULL OR is_active)
        FOR UPDATE SKIP LOCKED
      ) one
      WHERE w.provider_id = one.provider_id AND w.id = one.id
      RETURNING w.* INTO claimed;
      CONTINUE WHEN NOT FOUND;
      RETURN NEXT claimed;
      slots := slots - 1;
      IF candidate.is_failing THEN failing_slots := failing_slots - 1; END IF;
    END IF;
    counts := counts || jsonb_build_object(candidate.host, of_host + 1, candidate.school, of_school + 1);
  END LOOP;
END $$;
