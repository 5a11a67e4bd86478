-- Reads wait from the first DROP on, so these come last.
CREATE INDEX "labels_folded_title" ON "labels" USING btree ("provider_id",fold_text("title") collate "C");--> statement-breakpoint
CREATE INDEX "tags_folded_title" ON "tags" USING btree ("provider_id",fold_text("title") collate "C");--> statement-breakpoint
CREATE INDEX "courses_folded_title" ON "courses" USING btree ("provider_id",fold_text("title") collate "C") WHERE "courses"."is_active" and "courses"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "course_users_folded_person" ON "course_users" USING btree ("provider_id",lower("email" collate "und-x-icu"),fold_text("lastname") collate "C",fold_text("firstname") collate "C");--> statement-breakpoint
CREATE INDEX "course_users_folded_firstname" ON "course_users" USING btree ("provider_id",fold_text("firstname") collate "C");--> statement-breakpoint
CREATE INDEX "course_users_folded_lastname" ON "course_users" USING btree ("provider_id",fold_text("lastname") collate "C");--> statement-breakpoint
CREATE INDEX "course_users_folded_username" ON "course_users" USING btree ("provider_id",fold_text("username") collate "C");--> statement-breakpoint
DROP INDEX "course_users_person";--> statement-breakpoint
DROP INDEX "course_users_firstname";--> statement-breakpoint
DROP INDEX "course_users_lastname";--> statement-breakpoint
DROP INDEX "course_users_username_start";
