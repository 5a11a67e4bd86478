CREATE UNLOGGED TABLE "staged_lines" (
	"provider_id" bigint NOT NULL,
	"line" integer NOT NULL,
	"part" integer NOT NULL,
	"kind" text NOT NULL,
	"table" text NOT NULL,
	"data" jsonb NOT NULL,
	"refs" jsonb NOT NULL,
	"ref_kind" text,
	"ref" text,
	"unique_text" text,
	"bad" boolean,
	"staged_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "staged_lines_pk" PRIMARY KEY("provider_id","line","part")
);
--> statement-breakpoint
CREATE INDEX "staged_lines_line" ON "staged_lines" USING btree ("provider_id","kind","line");--> statement-breakpoint
CREATE INDEX "staged_lines_ref" ON "staged_lines" USING btree ("provider_id","ref_kind","ref") WHERE "staged_lines"."ref" is not null;--> statement-breakpoint
ALTER TABLE "staged_lines" ALTER COLUMN "provider_id" SET (n_distinct = 20);
