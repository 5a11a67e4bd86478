CREATE TABLE "backup_runs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "backup_runs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"is_nightly" boolean NOT NULL,
	"started_at" timestamp(6) with time zone NOT NULL,
	"finished_at" timestamp(6) with time zone,
	"file" text,
	"bytes" bigint,
	"error" text,
	"restore_test" text,
	CONSTRAINT "backup_runs_result" CHECK (num_nonnulls("backup_runs"."file", "backup_runs"."error") = case when "backup_runs"."finished_at" is null then 0 else 1 end),
	CONSTRAINT "backup_runs_restore_test" CHECK ("backup_runs"."restore_test" in ('passed', 'failed', 'skipped'))
);
