-- One row per provider is updated by every write: room on the page keeps the updates heap-only, and dead versions go early.
ALTER TABLE "provider_state" SET (fillfactor = 20, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 50, autovacuum_vacuum_cost_delay = 0);
--> statement-breakpoint
ALTER TABLE "service_state" SET (fillfactor = 20, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 50, autovacuum_vacuum_cost_delay = 0);
--> statement-breakpoint
INSERT INTO "service_state" ("id", "changed_at") VALUES (1, clock_timestamp()) ON CONFLICT DO NOTHING;
