DROP INDEX "course_dates_participants";--> statement-breakpoint
CREATE INDEX "course_dates_participants" ON "course_dates" USING btree ("provider_id","has_participants","id");