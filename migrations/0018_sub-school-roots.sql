DROP INDEX "outbox_due";--> statement-breakpoint
ALTER TABLE "providers" ADD COLUMN "root_id" bigint;--> statement-breakpoint
ALTER TABLE "providers" ADD COLUMN "closed_at" timestamp(6) with time zone;--> statement-breakpoint
ALTER TABLE "providers" ADD CONSTRAINT "providers_root_fk" FOREIGN KEY ("root_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "outbox_unsent" ON "outbox" USING btree ("provider_id","due_at","id") WHERE "outbox"."sent_at" is null and "outbox"."failed_at" is null;--> statement-breakpoint
CREATE INDEX "providers_root" ON "providers" USING btree ("root_id");