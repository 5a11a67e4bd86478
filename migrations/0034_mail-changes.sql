ALTER TABLE "outbox" ADD COLUMN "before" jsonb;--> statement-breakpoint
ALTER TABLE "service_state" ADD COLUMN "uid_host" text;