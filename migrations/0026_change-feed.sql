CREATE TABLE "events" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp(6) with time zone NOT NULL,
	"resource" text NOT NULL,
	"change" text NOT NULL,
	"resource_id" bigint,
	CONSTRAINT "events_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "events_resource_id" CHECK (("events"."resource_id" is null) = ("events"."change" = 'resync'))
);
