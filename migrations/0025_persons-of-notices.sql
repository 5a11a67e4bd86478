ALTER TABLE "outbox" ADD COLUMN "named_user_id" bigint;--> statement-breakpoint
CREATE INDEX "outbox_named_user" ON "outbox" USING btree ("provider_id","named_user_id") WHERE "outbox"."named_user_id" is not null;--> statement-breakpoint
-- Of notices before a swap, where that is known: the second of its two mails went to the person who had the place.
WITH swaps AS (
  SELECT provider_id, participant_id, created_at, (array_agg(user_id ORDER BY id))[2] AS former
  FROM outbox
  WHERE purpose = 'swap'
  GROUP BY provider_id, participant_id, created_at
  HAVING count(*) = 2
), named AS (
  SELECT DISTINCT ON (o.provider_id, o.id) o.provider_id, o.id, s.former
  FROM outbox o
    JOIN swaps s ON s.provider_id = o.provider_id AND s.participant_id = o.participant_id AND s.created_at > o.sent_at
  WHERE num_nonnulls(o.user_id, o.booking_id) = 0
  ORDER BY o.provider_id, o.id, s.created_at
)
UPDATE outbox o SET named_user_id = n.former
FROM named n
WHERE o.provider_id = n.provider_id AND o.id = n.id;
--> statement-breakpoint
-- An erasure searches the answers of the operations that were not marked before.
UPDATE idempotency_records SET has_course_user = true WHERE NOT has_course_user;
