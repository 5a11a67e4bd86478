CREATE TABLE "course_interests" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "course_interests_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"course_id" bigint NOT NULL,
	"email" text NOT NULL,
	"name" text,
	"language" text,
	"link_hash" text,
	"created_at" timestamp(6) with time zone NOT NULL,
	"confirmed_at" timestamp(6) with time zone,
	"notified_at" timestamp(6) with time zone,
	"course_date_id" bigint,
	CONSTRAINT "course_interests_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "course_interests_notified" CHECK ("course_interests"."notified_at" is null or "course_interests"."confirmed_at" is not null),
	CONSTRAINT "course_interests_date" CHECK (("course_interests"."notified_at" is null) = ("course_interests"."course_date_id" is null))
);
--> statement-breakpoint
ALTER TABLE "outbox" DROP CONSTRAINT "outbox_course_date";--> statement-breakpoint
ALTER TABLE "catalog_posts" ALTER COLUMN "booking_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "catalog_posts" ALTER COLUMN "address_hash" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "interest_id" bigint;--> statement-breakpoint
ALTER TABLE "course_interests" ADD CONSTRAINT "course_interests_course_fk" FOREIGN KEY ("provider_id","course_id") REFERENCES "public"."courses"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_interests" ADD CONSTRAINT "course_interests_course_date_fk" FOREIGN KEY ("provider_id","course_date_id") REFERENCES "public"."course_dates"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "course_interests_open" ON "course_interests" USING btree ("provider_id","course_id","email") WHERE "course_interests"."notified_at" is null;--> statement-breakpoint
CREATE INDEX "course_interests_due" ON "course_interests" USING btree ("provider_id","course_id","id") WHERE "course_interests"."confirmed_at" is not null and "course_interests"."notified_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "course_interests_link" ON "course_interests" USING btree ("provider_id","link_hash");--> statement-breakpoint
CREATE INDEX "course_interests_course" ON "course_interests" USING btree ("provider_id","course_id","id");--> statement-breakpoint
CREATE INDEX "course_interests_email" ON "course_interests" USING btree ("provider_id","email");--> statement-breakpoint
CREATE INDEX "course_interests_course_date" ON "course_interests" USING btree ("provider_id","course_date_id") WHERE "course_interests"."course_date_id" is not null;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_interest" CHECK (("outbox"."interest_id" is not null) = ("outbox"."purpose" in ('interest_confirmation', 'date_published')));--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_course_date" CHECK (("outbox"."course_date_id" is not null) = ("outbox"."purpose" in ('moved_away', 'notice_full', 'notice_under_minimum', 'notice_budget', 'date_published')));