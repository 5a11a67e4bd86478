ALTER TABLE "api_keys" ADD COLUMN "profile" text DEFAULT 'full' NOT NULL;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "origins" text[];--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_profile" CHECK ("api_keys"."profile" in ('full', 'read', 'booking', 'publishable'));--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_origins" CHECK ("api_keys"."origins" is null or "api_keys"."profile" = 'publishable');