DROP INDEX "outbox_delayed";--> statement-breakpoint
CREATE INDEX "outbox_delayed" ON "outbox" USING btree ("attempts","due_at") WHERE sent_at is null and failed_at is null and last_error is not null and failure is null;
