CREATE INDEX "course_date_instructors_instructor" ON "course_date_instructors" USING btree ("provider_id","instructor_id","course_date_id");--> statement-breakpoint
CREATE INDEX "course_dates_visible" ON "course_dates" USING btree ("provider_id","is_visible","id");--> statement-breakpoint
CREATE INDEX "course_dates_seats" ON "course_dates" USING btree ("provider_id",(case
  when "capacity_max" = 0 or "capacity_max" > "num_confirmed" + "num_overbooked" + "num_unconfirmed" then 'open'
  when "capacity_wait" > "num_waiting" then 'waiting_list'
  else 'fully_booked' end),"id");--> statement-breakpoint
CREATE INDEX "course_dates_under_minimum" ON "course_dates" USING btree ("provider_id","id") WHERE "course_dates"."num_confirmed" + "course_dates"."num_overbooked" < "course_dates"."capacity_min" and "course_dates"."status_id" <> 3;--> statement-breakpoint
CREATE INDEX "course_dates_words" ON "course_dates" USING gin (search_words("provider_id", coalesce("title", '')));--> statement-breakpoint
CREATE INDEX "gathering_instructors_instructor" ON "gathering_instructors" USING btree ("provider_id","instructor_id","gathering_id");--> statement-breakpoint
CREATE INDEX "courses_active" ON "courses" USING btree ("provider_id","is_active","id");--> statement-breakpoint
CREATE INDEX "courses_reference" ON "courses" USING btree ("provider_id",lower("reference" collate "und-x-icu")) WHERE "courses"."reference" is not null;--> statement-breakpoint
CREATE INDEX "courses_words" ON "courses" USING gin (search_words("provider_id", coalesce("title", '') || ' ' || coalesce("reference", '')));--> statement-breakpoint
CREATE INDEX "customers_orgnr" ON "customers" USING btree ("provider_id","orgnr") WHERE "customers"."orgnr" is not null;--> statement-breakpoint
CREATE INDEX "customers_email" ON "customers" USING btree ("provider_id",lower("email" collate "und-x-icu")) WHERE "customers"."email" is not null;--> statement-breakpoint
CREATE INDEX "customers_reference_id" ON "customers" USING btree ("provider_id",lower("customer_reference_id" collate "und-x-icu")) WHERE "customers"."customer_reference_id" is not null;--> statement-breakpoint
CREATE INDEX "customers_reference" ON "customers" USING btree ("provider_id",lower("customer_reference" collate "und-x-icu")) WHERE "customers"."customer_reference" is not null;--> statement-breakpoint
CREATE INDEX "customers_words" ON "customers" USING gin (search_words("provider_id", coalesce("title", '') || ' ' || coalesce("orgnr", '') || ' ' || coalesce("email", '') || ' ' || coalesce("customer_reference_id", '') || ' ' || coalesce("customer_reference", '')));--> statement-breakpoint
CREATE INDEX "orders_paid" ON "orders" USING btree ("provider_id","is_paid","id");--> statement-breakpoint
CREATE INDEX "orders_campaign" ON "orders" USING btree ("provider_id","campaign_id","id") WHERE "orders"."campaign_id" is not null;--> statement-breakpoint
CREATE INDEX "orders_words" ON "orders" USING gin (search_words("provider_id", coalesce("your_reference", '') || ' ' || coalesce("booker", '')));--> statement-breakpoint
CREATE INDEX "participants_status" ON "participants" USING btree ("provider_id","status_id","id");--> statement-breakpoint
CREATE INDEX "participants_paid" ON "participants" USING btree ("provider_id","paid_id","id");--> statement-breakpoint
CREATE INDEX "course_users_created" ON "course_users" USING btree ("provider_id","created_at","id");--> statement-breakpoint
CREATE INDEX "course_users_updated" ON "course_users" USING btree ("provider_id","updated_at","id");--> statement-breakpoint
CREATE INDEX "course_users_words" ON "course_users" USING gin (search_words("provider_id", coalesce("firstname", '') || ' ' || coalesce("lastname", '') || ' ' || coalesce("email", '')));