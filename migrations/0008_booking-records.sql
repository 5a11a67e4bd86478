CREATE TABLE "idempotency_records" (
	"provider_id" bigint NOT NULL,
	"key_hash" text NOT NULL,
	"fingerprint" text NOT NULL,
	"booking_id" bigint NOT NULL,
	"answer" jsonb NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"expires_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "idempotency_records_pk" PRIMARY KEY("provider_id","key_hash")
);
--> statement-breakpoint
CREATE TABLE "voucher_redemptions" (
	"provider_id" bigint NOT NULL,
	"voucher_id" bigint NOT NULL,
	"order_id" bigint NOT NULL,
	"amount" numeric(12, 2) NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "voucher_redemptions_pk" PRIMARY KEY("provider_id","voucher_id","order_id"),
	CONSTRAINT "voucher_redemptions_amount" CHECK ("voucher_redemptions"."amount" > 0)
);
--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "participant_id" bigint;--> statement-breakpoint
ALTER TABLE "idempotency_records" ADD CONSTRAINT "idempotency_records_booking_fk" FOREIGN KEY ("provider_id","booking_id") REFERENCES "public"."bookings"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "voucher_redemptions" ADD CONSTRAINT "voucher_redemptions_voucher_fk" FOREIGN KEY ("provider_id","voucher_id") REFERENCES "public"."vouchers"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "voucher_redemptions" ADD CONSTRAINT "voucher_redemptions_order_fk" FOREIGN KEY ("provider_id","order_id") REFERENCES "public"."orders"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "idempotency_records_expires" ON "idempotency_records" USING btree ("provider_id","expires_at");--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_participant_fk" FOREIGN KEY ("provider_id","participant_id") REFERENCES "public"."participants"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_participant" CHECK (("outbox"."participant_id" is not null) = ("outbox"."purpose" in ('receipt', 'deregistration')));