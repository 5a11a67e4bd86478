ALTER TABLE "products" ADD COLUMN "account_number" text;--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "cost_unit" text;--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "external_id" text;--> statement-breakpoint
CREATE INDEX "products_created" ON "products" USING btree ("provider_id","created_at","id");--> statement-breakpoint
CREATE INDEX "products_updated" ON "products" USING btree ("provider_id","updated_at","id");