CREATE UNLOGGED TABLE "import_rows" (
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
	CONSTRAINT "import_rows_pk" PRIMARY KEY("provider_id","line","part")
);
--> statement-breakpoint
CREATE INDEX "import_rows_line" ON "import_rows" USING btree ("provider_id","kind","line");--> statement-breakpoint
CREATE INDEX "import_rows_ref" ON "import_rows" USING btree ("provider_id","ref_kind","ref") WHERE "import_rows"."ref" is not null;--> statement-breakpoint
ALTER TABLE "import_rows" ALTER COLUMN "provider_id" SET (n_distinct = 20);
