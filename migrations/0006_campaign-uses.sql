ALTER TABLE "campaigns" ADD COLUMN "max_uses" integer;--> statement-breakpoint
CREATE INDEX "vouchers_code_any" ON "vouchers" USING btree ("provider_id",lower("code" collate "und-x-icu"),"id");--> statement-breakpoint
CREATE INDEX "vouchers_created" ON "vouchers" USING btree ("provider_id","created_at","id");--> statement-breakpoint
CREATE INDEX "vouchers_updated" ON "vouchers" USING btree ("provider_id","updated_at","id");--> statement-breakpoint
ALTER TABLE "campaigns" ADD CONSTRAINT "campaigns_max_uses" CHECK ("campaigns"."max_uses" > 0);