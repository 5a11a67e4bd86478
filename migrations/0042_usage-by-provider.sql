CREATE TABLE "provider_limits" (
	"provider_id" bigint PRIMARY KEY NOT NULL,
	"per_second" integer NOT NULL,
	"burst" integer NOT NULL,
	CONSTRAINT "provider_limits_rate" CHECK ("provider_limits"."per_second" > 0 and "provider_limits"."burst" >= "provider_limits"."per_second")
);
--> statement-breakpoint
CREATE TABLE "provider_usage" (
	"provider_id" bigint NOT NULL,
	"hour" timestamp(6) with time zone NOT NULL,
	"requests" bigint NOT NULL,
	"refused" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"milliseconds" bigint NOT NULL,
	"peak_per_minute" integer NOT NULL,
	CONSTRAINT "provider_usage_pk" PRIMARY KEY("provider_id","hour")
);
--> statement-breakpoint
ALTER TABLE "provider_limits" ADD CONSTRAINT "provider_limits_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;