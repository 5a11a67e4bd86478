DROP INDEX "booking_links_earlier_hashes";--> statement-breakpoint
DROP INDEX "tokens_earlier_hashes";--> statement-breakpoint
DROP INDEX "course_interests_earlier_hashes";--> statement-breakpoint
CREATE INDEX "booking_links_earlier_hashes" ON "booking_links" USING gin ("earlier_hashes") WHERE "booking_links"."earlier_hashes" <> '{}';--> statement-breakpoint
CREATE INDEX "tokens_earlier_hashes" ON "tokens" USING gin ("earlier_hashes") WHERE "tokens"."earlier_hashes" <> '{}';--> statement-breakpoint
CREATE INDEX "course_interests_earlier_hashes" ON "course_interests" USING gin ("earlier_hashes") WHERE "course_interests"."earlier_hashes" <> '{}';