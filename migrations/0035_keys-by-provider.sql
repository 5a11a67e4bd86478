-- Each key of a tenant's table contains provider_id, so that the tables can be distributed by it.
ALTER TABLE "tokens" DROP CONSTRAINT "tokens_mail_fk";--> statement-breakpoint
DROP INDEX "audit_entries_provider";--> statement-breakpoint
DROP INDEX "outbox_provider";--> statement-breakpoint
ALTER TABLE "sessions" DROP CONSTRAINT "sessions_pkey", ADD CONSTRAINT "sessions_pk" PRIMARY KEY("hash","provider_id");--> statement-breakpoint
ALTER TABLE "tokens" DROP CONSTRAINT "tokens_pkey", ADD CONSTRAINT "tokens_pk" PRIMARY KEY("hash","provider_id");--> statement-breakpoint
ALTER TABLE "outbox" DROP CONSTRAINT "outbox_pkey", ADD CONSTRAINT "outbox_pk" PRIMARY KEY("provider_id","id");--> statement-breakpoint
UPDATE "audit_entries" SET "provider_id" = 0 WHERE "provider_id" IS NULL;--> statement-breakpoint
ALTER TABLE "audit_entries" DROP CONSTRAINT "audit_entries_pkey", ALTER COLUMN "provider_id" SET NOT NULL, ADD CONSTRAINT "audit_entries_pk" PRIMARY KEY("provider_id","id");--> statement-breakpoint
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_mail_fk" FOREIGN KEY ("provider_id","mail_id") REFERENCES "public"."outbox"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "tokens_mail_id" ON "tokens" USING btree ("provider_id","mail_id");--> statement-breakpoint
CREATE INDEX "audit_entries_id" ON "audit_entries" USING btree ("id");--> statement-breakpoint
CREATE INDEX "outbox_id" ON "outbox" USING btree ("id");--> statement-breakpoint
-- Servers of version 0.2 insert entries on shared data without a provider.
CREATE FUNCTION set_provider_of_shared_data() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.provider_id := 0;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER audit_entries_shared_data BEFORE INSERT ON "audit_entries" FOR EACH ROW
WHEN (NEW.provider_id IS NULL) EXECUTE FUNCTION set_provider_of_shared_data();
