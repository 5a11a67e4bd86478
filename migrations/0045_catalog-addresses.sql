CREATE TABLE "catalog_addresses" (
	"address" text PRIMARY KEY NOT NULL,
	"provider_id" bigint NOT NULL,
	"course_id" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "courses" ADD COLUMN "slug_has_id" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "catalog_addresses" ADD CONSTRAINT "catalog_addresses_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "catalog_addresses_course" ON "catalog_addresses" USING btree ("provider_id","course_id");