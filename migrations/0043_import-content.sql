ALTER TABLE "import_refs" ADD COLUMN "content" text;--> statement-breakpoint
ALTER TABLE "staged_lines" ADD COLUMN "content" text;