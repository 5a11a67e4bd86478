CREATE TABLE "catalog_names" (
	"name" text PRIMARY KEY NOT NULL,
	"provider_id" bigint NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "catalog_settings" (
	"provider_id" bigint PRIMARY KEY NOT NULL,
	"is_enabled" boolean DEFAULT false NOT NULL,
	"slug" text,
	"host" text,
	"theme" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"is_indexed" boolean DEFAULT true NOT NULL,
	"fields" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"terms_url" text,
	"privacy_url" text,
	"withdrawal_text" text,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "catalog_settings_slug" CHECK ("catalog_settings"."slug" is not null or not "catalog_settings"."is_enabled")
);
--> statement-breakpoint
ALTER TABLE "catalog_names" ADD CONSTRAINT "catalog_names_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "catalog_settings" ADD CONSTRAINT "catalog_settings_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "catalog_names_provider" ON "catalog_names" USING btree ("provider_id");