ALTER TABLE "vouchers" ADD COLUMN "spent_before" numeric(12, 2) DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE "courses" ADD COLUMN "reference_internal" text;--> statement-breakpoint
-- Nothing has been redeemed yet: what is missing from a balance was spent before it came here.
UPDATE "vouchers" SET "spent_before" = "amount" - "balance" WHERE "balance" < "amount";
