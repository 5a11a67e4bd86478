ALTER TABLE "events" ADD COLUMN "into_id" bigint;--> statement-breakpoint
CREATE INDEX "import_refs_item" ON "import_refs" USING btree ("provider_id","kind","item_id");--> statement-breakpoint
CREATE INDEX "outbox_user" ON "outbox" USING btree ("provider_id","user_id") WHERE "outbox"."user_id" is not null;--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_into_id" CHECK (("events"."into_id" is null) = ("events"."change" <> 'merged'));