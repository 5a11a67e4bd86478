CREATE INDEX "courses_completion" ON "courses" USING btree ("provider_id","id") WHERE "courses"."completion_min_share" is not null;--> statement-breakpoint
-- Until now only by hand.
UPDATE participants SET completed_by_hand = true WHERE completed;
