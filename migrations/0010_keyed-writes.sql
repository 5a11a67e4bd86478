ALTER TABLE "idempotency_records" ALTER COLUMN "booking_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "idempotency_records" ADD COLUMN "has_course_user" boolean DEFAULT false NOT NULL;