ALTER TABLE "booking_links" ADD COLUMN "earlier_hashes" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "tokens" ADD COLUMN "earlier_hashes" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "course_interests" ADD COLUMN "earlier_hashes" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "course_interests" ADD COLUMN "link_mail_id" bigint;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "failure" text;--> statement-breakpoint
CREATE INDEX "booking_links_earlier_hashes" ON "booking_links" USING btree ("provider_id") WHERE "booking_links"."earlier_hashes" <> '{}';--> statement-breakpoint
CREATE INDEX "tokens_earlier_hashes" ON "tokens" USING btree ("provider_id") WHERE "tokens"."earlier_hashes" <> '{}';--> statement-breakpoint
CREATE INDEX "course_interests_earlier_hashes" ON "course_interests" USING btree ("provider_id") WHERE "course_interests"."earlier_hashes" <> '{}';--> statement-breakpoint
CREATE INDEX "outbox_delayed" ON "outbox" USING btree ("provider_id","attempts","due_at") WHERE sent_at is null and failed_at is null and last_error is not null and failure is null;--> statement-breakpoint
-- Mails of the given purposes: a server knows no others.
CREATE FUNCTION claim_mails(slots integer, fairness_keys bigint[], counts integer[], turns integer[], purposes text[])
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
      WHERE o.provider_id = school AND o.sent_at IS NULL AND o.failed_at IS NULL AND o.purpose = ANY (purposes)
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
-- For servers of earlier versions: the mails that the oldest of them knows. They fail or drop others.
CREATE OR REPLACE FUNCTION claim_mails(slots integer, fairness_keys bigint[], counts integer[], turns integer[])
RETURNS TABLE (provider_id bigint, id bigint, attempts integer, due_at timestamptz, fairness_key bigint)
LANGUAGE sql AS $$
  SELECT * FROM claim_mails(slots, fairness_keys, counts, turns,
    ARRAY['invitation', 'account_created', 'receipt', 'deregistration', 'webhook_disabled'])
$$;
