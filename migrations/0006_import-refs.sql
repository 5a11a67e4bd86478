CREATE TABLE "import_refs" (
	"provider_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"ref" text NOT NULL,
	"item_id" bigint NOT NULL,
	CONSTRAINT "import_refs_pk" PRIMARY KEY("provider_id","kind","ref")
);
--> statement-breakpoint
ALTER TABLE "import_refs" ADD CONSTRAINT "import_refs_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;