CREATE TABLE "calendar_feeds" (
	"provider_id" bigint NOT NULL,
	"user_id" bigint NOT NULL,
	"hash" text NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "calendar_feeds_pk" PRIMARY KEY("provider_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "date_notices" (
	"provider_id" bigint NOT NULL,
	"course_date_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "date_notices_pk" PRIMARY KEY("provider_id","course_date_id","kind"),
	CONSTRAINT "date_notices_kind" CHECK ("date_notices"."kind" in ('reminder', 'full', 'under_minimum', 'budget'))
);
--> statement-breakpoint
CREATE TABLE "refused_addresses" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "refused_addresses_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"email" text NOT NULL,
	"reason" text NOT NULL,
	"refused_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "refused_addresses_pk" PRIMARY KEY("provider_id","id")
);
--> statement-breakpoint
CREATE TABLE "booking_settings" (
	"provider_id" bigint PRIMARY KEY NOT NULL,
	"self_cancellation" boolean DEFAULT false NOT NULL,
	"late_cancellation" text DEFAULT 'no' NOT NULL,
	"language" text,
	"mails" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"texts" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "booking_settings_late_cancellation" CHECK ("booking_settings"."late_cancellation" in ('no', 'fee')),
	CONSTRAINT "booking_settings_language" CHECK ("booking_settings"."language" in ('en', 'no'))
);
--> statement-breakpoint
ALTER TABLE "outbox" DROP CONSTRAINT "outbox_person";--> statement-breakpoint
ALTER TABLE "outbox" DROP CONSTRAINT "outbox_participant";--> statement-breakpoint
ALTER TABLE "bookings" ADD COLUMN "language" text;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "course_date_id" bigint;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "refused_address_id" bigint;--> statement-breakpoint
ALTER TABLE "locations" ADD COLUMN "notification_role_id" bigint;--> statement-breakpoint
ALTER TABLE "calendar_feeds" ADD CONSTRAINT "calendar_feeds_user_fk" FOREIGN KEY ("provider_id","user_id") REFERENCES "public"."course_users"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "date_notices" ADD CONSTRAINT "date_notices_course_date_fk" FOREIGN KEY ("provider_id","course_date_id") REFERENCES "public"."course_dates"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refused_addresses" ADD CONSTRAINT "refused_addresses_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "booking_settings" ADD CONSTRAINT "booking_settings_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "calendar_feeds_hash" ON "calendar_feeds" USING btree ("provider_id","hash");--> statement-breakpoint
CREATE UNIQUE INDEX "refused_addresses_email" ON "refused_addresses" USING btree ("provider_id",lower("email" collate "und-x-icu"));--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_course_date_fk" FOREIGN KEY ("provider_id","course_date_id") REFERENCES "public"."course_dates"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_refused_address_fk" FOREIGN KEY ("provider_id","refused_address_id") REFERENCES "public"."refused_addresses"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "locations" ADD CONSTRAINT "locations_notification_role_fk" FOREIGN KEY ("provider_id","notification_role_id") REFERENCES "public"."roles"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "outbox_participant" ON "outbox" USING btree ("provider_id","participant_id") WHERE "outbox"."participant_id" is not null;--> statement-breakpoint
CREATE INDEX "outbox_course_date" ON "outbox" USING btree ("provider_id","course_date_id") WHERE "outbox"."course_date_id" is not null;--> statement-breakpoint
CREATE INDEX "outbox_refused_address" ON "outbox" USING btree ("provider_id","refused_address_id") WHERE "outbox"."refused_address_id" is not null;--> statement-breakpoint
CREATE INDEX "outbox_created" ON "outbox" USING btree ("provider_id","created_at","id");--> statement-breakpoint
ALTER TABLE "bookings" ADD CONSTRAINT "bookings_language" CHECK ("bookings"."language" in ('en', 'no'));--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_course_date" CHECK (("outbox"."course_date_id" is not null) = ("outbox"."purpose" in ('moved_away', 'notice_full', 'notice_under_minimum', 'notice_budget')));--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_refused_address" CHECK (("outbox"."refused_address_id" is not null) = ("outbox"."purpose" = 'address_refused'));--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_person" CHECK (num_nonnulls("outbox"."user_id", "outbox"."admin_user_id", "outbox"."booking_id", "outbox"."address") = 1
        or num_nonnulls("outbox"."user_id", "outbox"."admin_user_id", "outbox"."booking_id", "outbox"."address") = 0 and "outbox"."purpose" in ('webhook_disabled', 'address_refused'));--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_participant" CHECK (("outbox"."participant_id" is not null) = ("outbox"."purpose" in ('receipt', 'deregistration', 'offer', 'swap', 'move', 'date_canceled', 'date_changed', 'promotion', 'reminder', 'moved_away', 'notice_booked', 'notice_canceled')));