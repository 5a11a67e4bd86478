CREATE TABLE "catalog_posts" (
	"provider_id" bigint NOT NULL,
	"key_hash" text NOT NULL,
	"booking_id" bigint NOT NULL,
	"address_hash" text NOT NULL,
	"recipients" text[] NOT NULL,
	"places" integer NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "catalog_posts_pk" PRIMARY KEY("provider_id","key_hash")
);
--> statement-breakpoint
ALTER TABLE "catalog_posts" ADD CONSTRAINT "catalog_posts_booking_fk" FOREIGN KEY ("provider_id","booking_id") REFERENCES "public"."bookings"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "catalog_posts_booking" ON "catalog_posts" USING btree ("provider_id","booking_id");--> statement-breakpoint
CREATE INDEX "catalog_posts_address" ON "catalog_posts" USING btree ("provider_id","address_hash","created_at");--> statement-breakpoint
CREATE INDEX "catalog_posts_created" ON "catalog_posts" USING btree ("provider_id","created_at");