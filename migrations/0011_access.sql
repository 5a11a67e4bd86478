CREATE TABLE "sessions" (
	"provider_id" bigint NOT NULL,
	"hash" text PRIMARY KEY NOT NULL,
	"user_id" bigint NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"used_at" timestamp(6) with time zone NOT NULL,
	"expires_at" timestamp(6) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_on_failures" (
	"provider_id" bigint NOT NULL,
	"username_hash" text NOT NULL,
	"window_started_at" timestamp(6) with time zone NOT NULL,
	"failures" integer NOT NULL,
	CONSTRAINT "sign_on_failures_pk" PRIMARY KEY("provider_id","username_hash")
);
--> statement-breakpoint
CREATE TABLE "tokens" (
	"provider_id" bigint NOT NULL,
	"hash" text PRIMARY KEY NOT NULL,
	"purpose" text NOT NULL,
	"user_id" bigint,
	"admin_user_id" bigint,
	"mail_id" bigint,
	"created_at" timestamp(6) with time zone NOT NULL,
	"expires_at" timestamp(6) with time zone NOT NULL,
	"used_at" timestamp(6) with time zone,
	CONSTRAINT "tokens_person" CHECK (num_nonnulls("tokens"."user_id", "tokens"."admin_user_id") = 1)
);
--> statement-breakpoint
DROP INDEX "outbox_due";--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "attempts" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "last_error" text;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "failed_at" timestamp(6) with time zone;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_fk" FOREIGN KEY ("provider_id","user_id") REFERENCES "public"."course_users"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sign_on_failures" ADD CONSTRAINT "sign_on_failures_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_user_fk" FOREIGN KEY ("provider_id","user_id") REFERENCES "public"."course_users"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_admin_user_fk" FOREIGN KEY ("provider_id","admin_user_id") REFERENCES "public"."admin_memberships"("provider_id","admin_user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_mail_fk" FOREIGN KEY ("mail_id") REFERENCES "public"."outbox"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("provider_id","user_id");--> statement-breakpoint
CREATE INDEX "sessions_expires" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sign_on_failures_window" ON "sign_on_failures" USING btree ("provider_id","window_started_at");--> statement-breakpoint
CREATE UNIQUE INDEX "tokens_mail" ON "tokens" USING btree ("mail_id");--> statement-breakpoint
CREATE INDEX "tokens_user" ON "tokens" USING btree ("provider_id","user_id");--> statement-breakpoint
CREATE INDEX "tokens_expires" ON "tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "outbox_provider" ON "outbox" USING btree ("provider_id","id");--> statement-breakpoint
CREATE INDEX "outbox_due" ON "outbox" USING btree ("due_at","id") WHERE "outbox"."sent_at" is null and "outbox"."failed_at" is null;