ALTER TABLE "refused_addresses" ADD COLUMN "subject" text;--> statement-breakpoint
ALTER TABLE "refused_addresses" ADD COLUMN "lifted_at" timestamp(6) with time zone;--> statement-breakpoint
CREATE INDEX "outbox_admin_user" ON "outbox" USING btree ("provider_id","admin_user_id") WHERE "outbox"."admin_user_id" is not null;--> statement-breakpoint
CREATE INDEX "outbox_address" ON "outbox" USING btree ("provider_id",lower("address" collate "und-x-icu")) WHERE "outbox"."address" is not null;--> statement-breakpoint
CREATE INDEX "outbox_school" ON "outbox" USING btree ("provider_id","id") WHERE num_nonnulls("outbox"."user_id", "outbox"."admin_user_id", "outbox"."booking_id", "outbox"."address") = 0;--> statement-breakpoint
CREATE INDEX "outbox_failed" ON "outbox" USING btree ("provider_id","id") WHERE "outbox"."failed_at" is not null;