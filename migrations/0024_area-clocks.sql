ALTER TABLE "provider_state" ADD COLUMN "catalog_changed_at" timestamp(6) with time zone DEFAULT clock_timestamp() NOT NULL;--> statement-breakpoint
ALTER TABLE "provider_state" ADD COLUMN "dates_changed_at" timestamp(6) with time zone DEFAULT clock_timestamp() NOT NULL;--> statement-breakpoint
ALTER TABLE "provider_state" ADD COLUMN "people_changed_at" timestamp(6) with time zone DEFAULT clock_timestamp() NOT NULL;--> statement-breakpoint
ALTER TABLE "provider_state" ADD COLUMN "money_changed_at" timestamp(6) with time zone DEFAULT clock_timestamp() NOT NULL;--> statement-breakpoint
ALTER TABLE "provider_state" ADD COLUMN "school_changed_at" timestamp(6) with time zone DEFAULT clock_timestamp() NOT NULL;