-- As for the other tenant tables: generic plans assume a tenant with a twentieth of all rows.
ALTER TABLE "catalog_addresses" ALTER COLUMN "provider_id" SET (n_distinct = 20);--> statement-breakpoint
ALTER TABLE "provider_usage" ALTER COLUMN "provider_id" SET (n_distinct = 20);
