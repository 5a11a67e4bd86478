CREATE TABLE "audit_entries" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_entries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"provider_id" bigint,
	"at" timestamp(6) with time zone NOT NULL,
	"actor" text NOT NULL,
	"actor_id" bigint,
	"action" text NOT NULL,
	"item_ids" bigint[] NOT NULL,
	CONSTRAINT "audit_entries_actor" CHECK ("audit_entries"."actor" in ('key', 'course_user', 'admin_user', 'operator', 'server')),
	CONSTRAINT "audit_entries_actor_id" CHECK (("audit_entries"."actor_id" is null) = ("audit_entries"."actor" in ('operator', 'server')))
);
--> statement-breakpoint
CREATE INDEX "audit_entries_provider" ON "audit_entries" USING btree ("provider_id","id");