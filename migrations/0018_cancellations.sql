CREATE TABLE "cancellations" (
	"provider_id" bigint NOT NULL,
	"course_date_id" bigint NOT NULL,
	"credit" boolean NOT NULL,
	"move_to" bigint,
	"send_mail" boolean NOT NULL,
	"last_booking_id" bigint NOT NULL,
	"num_participants" integer NOT NULL,
	"num_moved" integer NOT NULL,
	"num_credits" integer NOT NULL,
	"num_mails" integer NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"finished_at" timestamp(6) with time zone,
	CONSTRAINT "cancellations_pk" PRIMARY KEY("provider_id","course_date_id")
);
--> statement-breakpoint
ALTER TABLE "cancellations" ADD CONSTRAINT "cancellations_course_date_fk" FOREIGN KEY ("provider_id","course_date_id") REFERENCES "public"."course_dates"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cancellations" ADD CONSTRAINT "cancellations_move_to_fk" FOREIGN KEY ("provider_id","move_to") REFERENCES "public"."course_dates"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "cancellations_move_to" ON "cancellations" USING btree ("provider_id","move_to") WHERE "cancellations"."move_to" is not null;--> statement-breakpoint
CREATE INDEX "cancellations_unfinished" ON "cancellations" USING btree ("provider_id","course_date_id") WHERE "cancellations"."finished_at" is null;