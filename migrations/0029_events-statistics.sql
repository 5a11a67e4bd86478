-- As for the other tenant tables: generic plans assume a tenant with a twentieth of all rows.
ALTER TABLE "events" ALTER COLUMN "provider_id" SET (n_distinct = 20);
