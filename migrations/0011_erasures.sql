CREATE TABLE "erasures" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "erasures_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"user_id" bigint,
	"created_at" timestamp(6) with time zone NOT NULL,
	"erased_at" timestamp(6) with time zone NOT NULL,
	"mails" text[] DEFAULT '{}' NOT NULL,
	CONSTRAINT "erasures_pk" PRIMARY KEY("provider_id","id")
);
--> statement-breakpoint
CREATE TABLE "merged_users" (
	"provider_id" bigint NOT NULL,
	"user_id" bigint NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"into_id" bigint NOT NULL,
	CONSTRAINT "merged_users_pk" PRIMARY KEY("provider_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "kept_until" timestamp(6) with time zone;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "kept_until" timestamp(6) with time zone;--> statement-breakpoint
ALTER TABLE "course_users" ADD COLUMN "erased_at" timestamp(6) with time zone;--> statement-breakpoint
ALTER TABLE "merged_users" ADD CONSTRAINT "merged_users_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "erasures_erased" ON "erasures" USING btree ("erased_at");--> statement-breakpoint
CREATE INDEX "merged_users_into" ON "merged_users" USING btree ("provider_id","into_id");--> statement-breakpoint
CREATE INDEX "audit_entries_course_user" ON "audit_entries" USING btree ("provider_id","actor_id","id") WHERE "audit_entries"."actor" = 'course_user';--> statement-breakpoint
CREATE INDEX "customers_kept" ON "customers" USING btree ("provider_id","kept_until") WHERE "customers"."kept_until" is not null;--> statement-breakpoint
CREATE INDEX "bookings_booker_email" ON "bookings" USING btree ("provider_id",lower("booker_email" collate "und-x-icu")) WHERE "bookings"."booker_email" is not null;--> statement-breakpoint
CREATE INDEX "orders_invoice_email" ON "orders" USING btree ("provider_id",lower("invoice_email" collate "und-x-icu")) WHERE "orders"."invoice_email" is not null;--> statement-breakpoint
CREATE INDEX "orders_kept" ON "orders" USING btree ("provider_id","kept_until") WHERE "orders"."kept_until" is not null;