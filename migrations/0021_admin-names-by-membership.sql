ALTER TABLE "admin_users" DROP CONSTRAINT "admin_users_names";--> statement-breakpoint
ALTER TABLE "admin_users" ALTER COLUMN "firstname" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "admin_users" ALTER COLUMN "lastname" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "admin_memberships" ADD COLUMN "firstname" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "admin_memberships" ADD COLUMN "lastname" text DEFAULT '' NOT NULL;