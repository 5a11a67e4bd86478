DROP INDEX "course_users_firstname";--> statement-breakpoint
DROP INDEX "course_users_lastname";--> statement-breakpoint
CREATE INDEX "course_users_username_start" ON "course_users" USING btree ("provider_id",lower("username" collate "und-x-icu") text_pattern_ops);--> statement-breakpoint
CREATE INDEX "course_users_firstname" ON "course_users" USING btree ("provider_id",lower("firstname" collate "und-x-icu") text_pattern_ops);--> statement-breakpoint
CREATE INDEX "course_users_lastname" ON "course_users" USING btree ("provider_id",lower("lastname" collate "und-x-icu") text_pattern_ops);