CREATE TABLE "booking_links" (
	"provider_id" bigint NOT NULL,
	"hash" text NOT NULL,
	"booking_id" bigint NOT NULL,
	"participant_id" bigint,
	"mail_id" bigint,
	"created_at" timestamp(6) with time zone NOT NULL,
	"expires_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "booking_links_pk" PRIMARY KEY("hash","provider_id")
);
--> statement-breakpoint
CREATE TABLE "attendance_marks" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "attendance_marks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"participant_id" bigint NOT NULL,
	"gathering_id" bigint NOT NULL,
	"attended" boolean,
	"minutes" smallint,
	"marked_at" timestamp(6) with time zone NOT NULL,
	"nonce" text NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "attendance_marks_pk" PRIMARY KEY("provider_id","id")
);
--> statement-breakpoint
CREATE TABLE "payments" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "payments_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"order_id" bigint NOT NULL,
	"amount" numeric(12, 2) NOT NULL,
	"method" text DEFAULT 'other' NOT NULL,
	"reference" text,
	"paid_at" timestamp(6) with time zone NOT NULL,
	"reversed_at" timestamp(6) with time zone,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "payments_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "payments_amount" CHECK ("payments"."amount" <> 0),
	CONSTRAINT "payments_method" CHECK ("payments"."method" in ('invoice', 'cash', 'card', 'bank', 'other'))
);
--> statement-breakpoint
ALTER TABLE "order_lines" DROP CONSTRAINT "order_lines_quantity";--> statement-breakpoint
ALTER TABLE "order_lines" DROP CONSTRAINT "order_lines_amounts";--> statement-breakpoint
ALTER TABLE "outbox" DROP CONSTRAINT "outbox_person";--> statement-breakpoint
ALTER TABLE "outbox" DROP CONSTRAINT "outbox_participant";--> statement-breakpoint
ALTER TABLE "voucher_redemptions" DROP CONSTRAINT "voucher_redemptions_amount";--> statement-breakpoint
DROP INDEX "order_lines_order";--> statement-breakpoint
ALTER TABLE "course_dates" ADD COLUMN "waiting_mode" text DEFAULT 'promote' NOT NULL;--> statement-breakpoint
ALTER TABLE "course_dates" ADD COLUMN "offer_hours" smallint DEFAULT 24 NOT NULL;--> statement-breakpoint
ALTER TABLE "course_dates" ADD COLUMN "cancellation_message" text;--> statement-breakpoint
ALTER TABLE "courses" ADD COLUMN "completion_min_share" numeric(4, 3);--> statement-breakpoint
ALTER TABLE "bookings" ADD COLUMN "waiting_together" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "order_lines" ADD COLUMN "credits_line_id" bigint;--> statement-breakpoint
ALTER TABLE "order_lines" ADD COLUMN "vat_rounding" numeric(12, 2) DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "kind" text DEFAULT 'order' NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "first_order_id" bigint;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "credit_reason" text;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "credit_applied" numeric(12, 2) DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "booking_id" bigint;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "address" text;--> statement-breakpoint
ALTER TABLE "attendances" ADD COLUMN "minutes" smallint;--> statement-breakpoint
ALTER TABLE "participants" ADD COLUMN "held_until" timestamp(6) with time zone;--> statement-breakpoint
ALTER TABLE "participants" ADD COLUMN "held_for" text;--> statement-breakpoint
ALTER TABLE "participants" ADD COLUMN "lapsed_offers" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "participants" ADD COLUMN "completed_by_hand" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "course_users" ADD COLUMN "is_placeholder" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "booking_links" ADD CONSTRAINT "booking_links_booking_fk" FOREIGN KEY ("provider_id","booking_id") REFERENCES "public"."bookings"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "booking_links" ADD CONSTRAINT "booking_links_participant_fk" FOREIGN KEY ("provider_id","participant_id") REFERENCES "public"."participants"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "booking_links" ADD CONSTRAINT "booking_links_mail_fk" FOREIGN KEY ("provider_id","mail_id") REFERENCES "public"."outbox"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attendance_marks" ADD CONSTRAINT "attendance_marks_participant_fk" FOREIGN KEY ("provider_id","participant_id") REFERENCES "public"."participants"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attendance_marks" ADD CONSTRAINT "attendance_marks_gathering_fk" FOREIGN KEY ("provider_id","gathering_id") REFERENCES "public"."gatherings"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_order_fk" FOREIGN KEY ("provider_id","order_id") REFERENCES "public"."orders"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "booking_links_mail" ON "booking_links" USING btree ("provider_id","mail_id");--> statement-breakpoint
CREATE INDEX "booking_links_booking" ON "booking_links" USING btree ("provider_id","booking_id");--> statement-breakpoint
CREATE INDEX "booking_links_participant" ON "booking_links" USING btree ("provider_id","participant_id");--> statement-breakpoint
CREATE INDEX "booking_links_expires" ON "booking_links" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "attendance_marks_nonce" ON "attendance_marks" USING btree ("provider_id","participant_id","gathering_id","nonce");--> statement-breakpoint
CREATE INDEX "attendance_marks_gathering" ON "attendance_marks" USING btree ("provider_id","gathering_id");--> statement-breakpoint
CREATE UNIQUE INDEX "payments_reference" ON "payments" USING btree ("provider_id","order_id","reference") WHERE "payments"."reversed_at" is null and "payments"."reference" is not null;--> statement-breakpoint
CREATE INDEX "payments_order" ON "payments" USING btree ("provider_id","order_id","id");--> statement-breakpoint
CREATE INDEX "payments_paid" ON "payments" USING btree ("provider_id","paid_at","id");--> statement-breakpoint
CREATE INDEX "payments_created" ON "payments" USING btree ("provider_id","created_at","id");--> statement-breakpoint
CREATE INDEX "payments_updated" ON "payments" USING btree ("provider_id","updated_at","id");--> statement-breakpoint
ALTER TABLE "order_lines" ADD CONSTRAINT "order_lines_credits_fk" FOREIGN KEY ("provider_id","credits_line_id") REFERENCES "public"."order_lines"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_first_fk" FOREIGN KEY ("provider_id","first_order_id") REFERENCES "public"."orders"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_booking_fk" FOREIGN KEY ("provider_id","booking_id") REFERENCES "public"."bookings"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "order_lines_credits" ON "order_lines" USING btree ("provider_id","credits_line_id") WHERE "order_lines"."credits_line_id" is not null;--> statement-breakpoint
CREATE INDEX "orders_first" ON "orders" USING btree ("provider_id","first_order_id","id") WHERE "orders"."first_order_id" is not null;--> statement-breakpoint
CREATE INDEX "outbox_booking" ON "outbox" USING btree ("provider_id","booking_id") WHERE "outbox"."booking_id" is not null;--> statement-breakpoint
CREATE INDEX "participants_held" ON "participants" USING btree ("provider_id","held_until") WHERE "participants"."held_until" is not null;--> statement-breakpoint
ALTER TABLE "order_lines" ADD CONSTRAINT "order_lines_order" UNIQUE NULLS NOT DISTINCT("provider_id","order_id","product_id","credits_line_id");--> statement-breakpoint
ALTER TABLE "course_dates" ADD CONSTRAINT "course_dates_waiting_mode" CHECK ("course_dates"."waiting_mode" in ('promote', 'offer'));--> statement-breakpoint
ALTER TABLE "course_dates" ADD CONSTRAINT "course_dates_offer_hours" CHECK ("course_dates"."offer_hours" between 1 and 168);--> statement-breakpoint
ALTER TABLE "courses" ADD CONSTRAINT "courses_completion_min_share" CHECK ("courses"."completion_min_share" between 0 and 1);--> statement-breakpoint
ALTER TABLE "order_lines" ADD CONSTRAINT "order_lines_vat_rounding" CHECK ("order_lines"."vat_rounding" = 0 or "order_lines"."credits_line_id" is not null);--> statement-breakpoint
ALTER TABLE "order_lines" ADD CONSTRAINT "order_lines_quantity" CHECK ("order_lines"."quantity" <> 0 and ("order_lines"."quantity" < 0) = ("order_lines"."credits_line_id" is not null));--> statement-breakpoint
ALTER TABLE "order_lines" ADD CONSTRAINT "order_lines_amounts" CHECK (least("order_lines"."price_at_order", "order_lines"."discount_percent_at_order", "order_lines"."discount_amount_at_order", "order_lines"."discount_calculated_at_order" * sign("order_lines"."quantity")) >= 0);--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_kind" CHECK ("orders"."kind" in ('order', 'credit', 'difference'));--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_first_order" CHECK (("orders"."first_order_id" is null) = ("orders"."kind" = 'order'));--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_credit_applied" CHECK ("orders"."credit_applied" >= 0 and ("orders"."kind" = 'credit' or "orders"."credit_applied" = 0));--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_person" CHECK (num_nonnulls("outbox"."user_id", "outbox"."admin_user_id", "outbox"."booking_id", "outbox"."address") = 1
        or num_nonnulls("outbox"."user_id", "outbox"."admin_user_id", "outbox"."booking_id", "outbox"."address") = 0 and "outbox"."purpose" = 'webhook_disabled');--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_participant" CHECK (("outbox"."participant_id" is not null) = ("outbox"."purpose" in ('receipt', 'deregistration', 'offer', 'swap', 'move', 'date_canceled')));--> statement-breakpoint
ALTER TABLE "participants" ADD CONSTRAINT "participants_hold" CHECK ("participants"."held_for" is null or "participants"."held_for" = 'offer' and "participants"."status_id" = 7 or "participants"."held_for" = 'name' and "participants"."status_id" in (2, 7));--> statement-breakpoint
ALTER TABLE "participants" ADD CONSTRAINT "participants_held_until" CHECK (("participants"."held_until" is not null) = ("participants"."held_for" is not distinct from 'offer'));--> statement-breakpoint
ALTER TABLE "voucher_redemptions" ADD CONSTRAINT "voucher_redemptions_amount" CHECK ("voucher_redemptions"."amount" <> 0);