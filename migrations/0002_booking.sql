CREATE TABLE "campaign_courses" (
	"provider_id" bigint NOT NULL,
	"campaign_id" bigint NOT NULL,
	"course_id" bigint NOT NULL,
	CONSTRAINT "campaign_courses_pk" PRIMARY KEY("provider_id","campaign_id","course_id")
);
--> statement-breakpoint
CREATE TABLE "campaign_customers" (
	"provider_id" bigint NOT NULL,
	"campaign_id" bigint NOT NULL,
	"customer_id" bigint NOT NULL,
	CONSTRAINT "campaign_customers_pk" PRIMARY KEY("provider_id","campaign_id","customer_id")
);
--> statement-breakpoint
CREATE TABLE "campaign_tags" (
	"provider_id" bigint NOT NULL,
	"campaign_id" bigint NOT NULL,
	"tag_id" bigint NOT NULL,
	CONSTRAINT "campaign_tags_pk" PRIMARY KEY("provider_id","campaign_id","tag_id")
);
--> statement-breakpoint
CREATE TABLE "campaigns" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "campaigns_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"title" text,
	"type" text NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"is_archived" boolean DEFAULT false NOT NULL,
	"campaign_code" text,
	"starts_at" timestamp(6) with time zone,
	"ends_at" timestamp(6) with time zone,
	"currency" text DEFAULT 'NOK' NOT NULL,
	"discount_type" text NOT NULL,
	"discount_value" numeric(12, 2) NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "campaigns_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "campaigns_type" CHECK ("campaigns"."type" in ('Campaign', 'Agreement')),
	CONSTRAINT "campaigns_discount_type" CHECK ("campaigns"."discount_type" in ('Percent', 'Value')),
	CONSTRAINT "campaigns_discount" CHECK ("campaigns"."discount_value" >= 0 and ("campaigns"."discount_type" = 'Value' or "campaigns"."discount_value" <= 100)),
	CONSTRAINT "campaigns_currency" CHECK ("campaigns"."currency" ~ '^[A-Z]{3}$'),
	CONSTRAINT "campaigns_window" CHECK ("campaigns"."ends_at" > "campaigns"."starts_at")
);
--> statement-breakpoint
CREATE TABLE "vouchers" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "vouchers_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"code" text NOT NULL,
	"currency" text DEFAULT 'NOK' NOT NULL,
	"amount" numeric(12, 2) NOT NULL,
	"balance" numeric(12, 2) NOT NULL,
	"expires_at" timestamp(6) with time zone,
	"archived_at" timestamp(6) with time zone,
	"deleted_at" timestamp(6) with time zone,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "vouchers_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "vouchers_balance" CHECK ("vouchers"."balance" >= 0 and "vouchers"."balance" <= "vouchers"."amount"),
	CONSTRAINT "vouchers_currency" CHECK ("vouchers"."currency" ~ '^[A-Z]{3}$')
);
--> statement-breakpoint
CREATE TABLE "bundles" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "bundles_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"title" text NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "bundles_pk" PRIMARY KEY("provider_id","id")
);
--> statement-breakpoint
CREATE TABLE "course_date_instructors" (
	"provider_id" bigint NOT NULL,
	"course_date_id" bigint NOT NULL,
	"instructor_id" bigint NOT NULL,
	CONSTRAINT "course_date_instructors_pk" PRIMARY KEY("provider_id","course_date_id","instructor_id")
);
--> statement-breakpoint
CREATE TABLE "course_dates" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "course_dates_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"course_id" bigint NOT NULL,
	"parent_id" bigint,
	"bundle_id" bigint,
	"location_id" bigint,
	"place_id" bigint,
	"title" text,
	"start_at" date NOT NULL,
	"end_at" date NOT NULL,
	"deadline_at" date NOT NULL,
	"start_time_at" time,
	"end_time_at" time,
	"timezone" text,
	"zone" text NOT NULL,
	"starts_at" timestamp(6) with time zone GENERATED ALWAYS AS (timezone(zone, start_at + coalesce(start_time_at, '00:00'::time))) STORED NOT NULL,
	"ends_at" timestamp(6) with time zone GENERATED ALWAYS AS (timezone(zone, end_at + coalesce(end_time_at, '23:59:59'::time))) STORED NOT NULL,
	"event_url" text,
	"external_booking_url" text,
	"is_virtual" boolean DEFAULT false NOT NULL,
	"is_visible" boolean DEFAULT true NOT NULL,
	"visible_when_passed_deadline" boolean DEFAULT true NOT NULL,
	"reference" text,
	"trigger_value" text,
	"teaching_language_id" text NOT NULL,
	"place_additional_info" text,
	"internal_note" text,
	"status_id" smallint DEFAULT 1 NOT NULL,
	"capacity_max" integer DEFAULT 0 NOT NULL,
	"capacity_min" integer DEFAULT 0 NOT NULL,
	"capacity_overbook" integer DEFAULT 0 NOT NULL,
	"capacity_wait" integer DEFAULT 0 NOT NULL,
	"num_confirmed" integer DEFAULT 0 NOT NULL,
	"num_overbooked" integer DEFAULT 0 NOT NULL,
	"num_unconfirmed" integer DEFAULT 0 NOT NULL,
	"num_waiting" integer DEFAULT 0 NOT NULL,
	"has_participants" boolean GENERATED ALWAYS AS (num_confirmed + num_overbooked + num_unconfirmed + num_waiting > 0) STORED NOT NULL,
	"custom_properties" jsonb,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	"deleted_at" timestamp(6) with time zone,
	CONSTRAINT "course_dates_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "course_dates_course" UNIQUE("provider_id","course_id","id"),
	CONSTRAINT "course_dates_status_known" CHECK ("course_dates"."status_id" between 1 and 4),
	CONSTRAINT "course_dates_order" CHECK ("course_dates"."ends_at" > "course_dates"."starts_at"),
	CONSTRAINT "course_dates_deadline" CHECK ("course_dates"."deadline_at" <= "course_dates"."end_at"),
	CONSTRAINT "course_dates_own_parent" CHECK ("course_dates"."parent_id" <> "course_dates"."id"),
	CONSTRAINT "course_dates_capacities" CHECK (least("course_dates"."capacity_max", "course_dates"."capacity_min", "course_dates"."capacity_overbook", "course_dates"."capacity_wait") >= 0),
	CONSTRAINT "course_dates_counters" CHECK (least("course_dates"."num_confirmed", "course_dates"."num_overbooked", "course_dates"."num_unconfirmed", "course_dates"."num_waiting") >= 0)
);
--> statement-breakpoint
CREATE TABLE "gathering_instructors" (
	"provider_id" bigint NOT NULL,
	"gathering_id" bigint NOT NULL,
	"instructor_id" bigint NOT NULL,
	CONSTRAINT "gathering_instructors_pk" PRIMARY KEY("provider_id","gathering_id","instructor_id")
);
--> statement-breakpoint
CREATE TABLE "gatherings" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "gatherings_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"course_date_id" bigint NOT NULL,
	"location_id" bigint,
	"gathering_at" timestamp NOT NULL,
	"gathering_end_at" timestamp NOT NULL,
	"zone" text NOT NULL,
	"starts_at" timestamp(6) with time zone GENERATED ALWAYS AS (timezone(zone, gathering_at)) STORED NOT NULL,
	"description" text,
	"theme" text,
	"event_url" text,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	"deleted_at" timestamp(6) with time zone,
	CONSTRAINT "gatherings_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "gatherings_order" CHECK ("gatherings"."gathering_end_at" > "gatherings"."gathering_at")
);
--> statement-breakpoint
CREATE TABLE "bookings" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "bookings_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"order_id" bigint NOT NULL,
	"course_date_id" bigint NOT NULL,
	"booker_name" text,
	"booker_email" text,
	"booker_phone" text,
	"booker_language_id" text,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "bookings_pk" PRIMARY KEY("provider_id","id")
);
--> statement-breakpoint
CREATE TABLE "order_lines" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "order_lines_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"order_id" bigint NOT NULL,
	"product_id" bigint NOT NULL,
	"quantity" integer NOT NULL,
	"vat_percentage" numeric(5, 2) DEFAULT '0' NOT NULL,
	"price_at_order" numeric(12, 2) NOT NULL,
	"discount_percent_at_order" numeric(5, 2) DEFAULT '0' NOT NULL,
	"discount_amount_at_order" numeric(12, 2) DEFAULT '0' NOT NULL,
	"discount_calculated_at_order" numeric(12, 2) DEFAULT '0' NOT NULL,
	"price_at_invoice" numeric(12, 2),
	"discount_percent_at_invoice" numeric(5, 2),
	"discount_calculated_at_invoice" numeric(12, 2),
	"price_at_export" numeric(12, 2),
	"discount_percent_at_export" numeric(5, 2),
	"discount_calculated_at_export" numeric(12, 2),
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "order_lines_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "order_lines_quantity" CHECK ("order_lines"."quantity" > 0),
	CONSTRAINT "order_lines_amounts" CHECK (least("order_lines"."price_at_order", "order_lines"."discount_percent_at_order", "order_lines"."discount_amount_at_order", "order_lines"."discount_calculated_at_order") >= 0)
);
--> statement-breakpoint
CREATE TABLE "orders" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "orders_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"customer_id" bigint,
	"campaign_id" bigint,
	"seller_id" bigint,
	"title" text NOT NULL,
	"title_detailed" text DEFAULT '' NOT NULL,
	"currency" text DEFAULT 'NOK' NOT NULL,
	"is_paid" boolean DEFAULT false NOT NULL,
	"payment_method" text,
	"your_reference" text,
	"booker" text,
	"gln_number" text,
	"invoice_address" text,
	"invoice_address_2" text,
	"invoice_address_3" text,
	"invoice_zipcode" text,
	"invoice_city" text,
	"invoice_email" text,
	"total_before_discounts" numeric(12, 2) DEFAULT '0' NOT NULL,
	"total_discounts" numeric(12, 2) DEFAULT '0' NOT NULL,
	"total_vat" numeric(12, 2) DEFAULT '0' NOT NULL,
	"custom_properties" jsonb,
	"invoiced_at" timestamp(6) with time zone,
	"exported_at" timestamp(6) with time zone,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "orders_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "orders_currency" CHECK ("orders"."currency" ~ '^[A-Z]{3}$')
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "outbox_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"provider_id" bigint NOT NULL,
	"purpose" text NOT NULL,
	"user_id" bigint,
	"admin_user_id" bigint,
	"created_at" timestamp(6) with time zone NOT NULL,
	"due_at" timestamp(6) with time zone NOT NULL,
	"sent_at" timestamp(6) with time zone,
	CONSTRAINT "outbox_person" CHECK (num_nonnulls("outbox"."user_id", "outbox"."admin_user_id") = 1)
);
--> statement-breakpoint
CREATE TABLE "attendances" (
	"provider_id" bigint NOT NULL,
	"participant_id" bigint NOT NULL,
	"gathering_id" bigint NOT NULL,
	"attended" boolean,
	"registered_at" timestamp(6) with time zone,
	CONSTRAINT "attendances_pk" PRIMARY KEY("provider_id","participant_id","gathering_id")
);
--> statement-breakpoint
CREATE TABLE "order_line_participants" (
	"provider_id" bigint NOT NULL,
	"order_line_id" bigint NOT NULL,
	"participant_id" bigint NOT NULL,
	CONSTRAINT "order_line_participants_pk" PRIMARY KEY("provider_id","order_line_id","participant_id")
);
--> statement-breakpoint
CREATE TABLE "participants" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "participants_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"booking_id" bigint NOT NULL,
	"course_id" bigint NOT NULL,
	"course_date_id" bigint NOT NULL,
	"user_id" bigint NOT NULL,
	"status_id" smallint DEFAULT 1 NOT NULL,
	"status_updated_at" timestamp(6) with time zone NOT NULL,
	"paid_id" smallint DEFAULT 3 NOT NULL,
	"entry_source" text NOT NULL,
	"completed" boolean DEFAULT false NOT NULL,
	"no_show" boolean DEFAULT false NOT NULL,
	"passed" boolean DEFAULT false NOT NULL,
	"certificate_issued_at" date,
	"user_comment" text,
	"invoice_reference" text,
	"custom_properties" jsonb,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	"archived_at" timestamp(6) with time zone,
	CONSTRAINT "participants_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "participants_status" CHECK ("participants"."status_id" in (1, 2, 3, 4, 7, 8)),
	CONSTRAINT "participants_paid" CHECK ("participants"."paid_id" in (1, 3)),
	CONSTRAINT "participants_source" CHECK ("participants"."entry_source" in ('User', 'School'))
);
--> statement-breakpoint
CREATE TABLE "admin_membership_roles" (
	"provider_id" bigint NOT NULL,
	"admin_user_id" bigint NOT NULL,
	"role_id" bigint NOT NULL,
	CONSTRAINT "admin_membership_roles_pk" PRIMARY KEY("provider_id","admin_user_id","role_id")
);
--> statement-breakpoint
CREATE TABLE "admin_memberships" (
	"provider_id" bigint NOT NULL,
	"admin_user_id" bigint NOT NULL,
	"position" text DEFAULT '' NOT NULL,
	"phone_prefix" text DEFAULT '' NOT NULL,
	"phone" text DEFAULT '' NOT NULL,
	"booking_email" text DEFAULT '' NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "admin_memberships_pk" PRIMARY KEY("provider_id","admin_user_id")
);
--> statement-breakpoint
CREATE TABLE "admin_users" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "admin_users_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"email" text NOT NULL,
	"firstname" text NOT NULL,
	"lastname" text NOT NULL,
	"password_hash" text,
	"created_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "admin_users_names" CHECK ("admin_users"."firstname" <> '' and "admin_users"."lastname" <> '')
);
--> statement-breakpoint
CREATE TABLE "roles" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED BY DEFAULT AS IDENTITY (sequence name "roles_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 100 CACHE 1),
	"title" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "roles_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "roles_title_given" CHECK ("roles"."title" <> '')
);
--> statement-breakpoint
CREATE TABLE "instructors" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "instructors_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"admin_user_id" bigint,
	"firstname" text NOT NULL,
	"lastname" text NOT NULL,
	"phone_prefix" text DEFAULT '' NOT NULL,
	"phone" text DEFAULT '' NOT NULL,
	"email" text DEFAULT '' NOT NULL,
	"position" text DEFAULT '' NOT NULL,
	"company" text DEFAULT '' NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"show_on_web" boolean DEFAULT false NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	"archived_at" timestamp(6) with time zone,
	CONSTRAINT "instructors_pk" PRIMARY KEY("provider_id","id")
);
--> statement-breakpoint
CREATE TABLE "locations" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "locations_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"place_id" bigint,
	"instructor_id" bigint,
	"title" text,
	"custom_title" text,
	"address" text,
	"address2" text,
	"address3" text,
	"zipcode" text,
	"city" text,
	"state" text DEFAULT '' NOT NULL,
	"county" text DEFAULT '' NOT NULL,
	"country" text DEFAULT 'NO' NOT NULL,
	"lat" double precision DEFAULT 0 NOT NULL,
	"lng" double precision DEFAULT 0 NOT NULL,
	"timezone" text,
	"long_text" text,
	"short_text" text,
	"short_text_2" text,
	"email_booking" text,
	"email_moreinfo" text,
	"cancellation_days" integer DEFAULT 0 NOT NULL,
	"capacity_budget" integer DEFAULT 0 NOT NULL,
	"capacity_max" integer DEFAULT 0 NOT NULL,
	"capacity_min" integer DEFAULT 0 NOT NULL,
	"capacity_overbook" integer DEFAULT 0 NOT NULL,
	"capacity_wait" integer DEFAULT 0 NOT NULL,
	"notification_days" integer DEFAULT 0 NOT NULL,
	"is_archived" boolean DEFAULT false NOT NULL,
	"is_default" boolean DEFAULT false NOT NULL,
	"is_notification_enabled" boolean DEFAULT false NOT NULL,
	"is_virtual" boolean DEFAULT false NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "locations_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "locations_country" CHECK ("locations"."country" ~ '^[A-Z]{2}$'),
	CONSTRAINT "locations_capacities" CHECK (least("locations"."capacity_budget", "locations"."capacity_max", "locations"."capacity_min", "locations"."capacity_overbook", "locations"."capacity_wait") >= 0)
);
--> statement-breakpoint
CREATE TABLE "places" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "places_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"parent_id" bigint,
	"title" text NOT NULL,
	"country" text NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "places_title_given" CHECK ("places"."title" <> ''),
	CONSTRAINT "places_country" CHECK ("places"."country" ~ '^[A-Z]{2}$')
);
--> statement-breakpoint
CREATE TABLE "course_users" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "course_users_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"customer_id" bigint,
	"username" text NOT NULL,
	"password_hash" text,
	"firstname" text,
	"lastname" text,
	"email" text,
	"phone" text,
	"company" text,
	"orgnr" text,
	"position" text,
	"department" text,
	"legaldepartment" text,
	"date_of_birth" date,
	"invoice_address" text,
	"invoice_address_2" text,
	"invoice_address_3" text,
	"invoice_zipcode" text,
	"invoice_city" text,
	"invoice_phone" text,
	"home_address" text,
	"home_address_2" text,
	"home_address_3" text,
	"home_zipcode" text,
	"home_city" text,
	"home_phone" text,
	"work_address" text,
	"work_address_2" text,
	"work_address_3" text,
	"work_zipcode" text,
	"work_city" text,
	"work_phone" text,
	"external_id" text,
	"company_employee_number" text,
	"custom_properties" jsonb,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	"information_gathered_at" timestamp(6) with time zone,
	CONSTRAINT "course_users_pk" PRIMARY KEY("provider_id","id")
);
--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "archived_at" timestamp(6) with time zone;--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "seller_id" bigint;--> statement-breakpoint
ALTER TABLE "campaign_courses" ADD CONSTRAINT "campaign_courses_campaign_fk" FOREIGN KEY ("provider_id","campaign_id") REFERENCES "public"."campaigns"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "campaign_courses" ADD CONSTRAINT "campaign_courses_course_fk" FOREIGN KEY ("provider_id","course_id") REFERENCES "public"."courses"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "campaign_customers" ADD CONSTRAINT "campaign_customers_campaign_fk" FOREIGN KEY ("provider_id","campaign_id") REFERENCES "public"."campaigns"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "campaign_customers" ADD CONSTRAINT "campaign_customers_customer_fk" FOREIGN KEY ("provider_id","customer_id") REFERENCES "public"."customers"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "campaign_tags" ADD CONSTRAINT "campaign_tags_campaign_fk" FOREIGN KEY ("provider_id","campaign_id") REFERENCES "public"."campaigns"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "campaign_tags" ADD CONSTRAINT "campaign_tags_tag_fk" FOREIGN KEY ("provider_id","tag_id") REFERENCES "public"."tags"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "campaigns" ADD CONSTRAINT "campaigns_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vouchers" ADD CONSTRAINT "vouchers_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bundles" ADD CONSTRAINT "bundles_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_date_instructors" ADD CONSTRAINT "course_date_instructors_date_fk" FOREIGN KEY ("provider_id","course_date_id") REFERENCES "public"."course_dates"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_date_instructors" ADD CONSTRAINT "course_date_instructors_instructor_fk" FOREIGN KEY ("provider_id","instructor_id") REFERENCES "public"."instructors"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_dates" ADD CONSTRAINT "course_dates_course_fk" FOREIGN KEY ("provider_id","course_id") REFERENCES "public"."courses"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_dates" ADD CONSTRAINT "course_dates_parent_fk" FOREIGN KEY ("provider_id","parent_id") REFERENCES "public"."course_dates"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_dates" ADD CONSTRAINT "course_dates_bundle_fk" FOREIGN KEY ("provider_id","bundle_id") REFERENCES "public"."bundles"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_dates" ADD CONSTRAINT "course_dates_location_fk" FOREIGN KEY ("provider_id","location_id") REFERENCES "public"."locations"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_dates" ADD CONSTRAINT "course_dates_place_fk" FOREIGN KEY ("place_id") REFERENCES "public"."places"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "gathering_instructors" ADD CONSTRAINT "gathering_instructors_gathering_fk" FOREIGN KEY ("provider_id","gathering_id") REFERENCES "public"."gatherings"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "gathering_instructors" ADD CONSTRAINT "gathering_instructors_instructor_fk" FOREIGN KEY ("provider_id","instructor_id") REFERENCES "public"."instructors"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "gatherings" ADD CONSTRAINT "gatherings_date_fk" FOREIGN KEY ("provider_id","course_date_id") REFERENCES "public"."course_dates"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "gatherings" ADD CONSTRAINT "gatherings_location_fk" FOREIGN KEY ("provider_id","location_id") REFERENCES "public"."locations"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bookings" ADD CONSTRAINT "bookings_order_fk" FOREIGN KEY ("provider_id","order_id") REFERENCES "public"."orders"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bookings" ADD CONSTRAINT "bookings_date_fk" FOREIGN KEY ("provider_id","course_date_id") REFERENCES "public"."course_dates"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "order_lines" ADD CONSTRAINT "order_lines_order_fk" FOREIGN KEY ("provider_id","order_id") REFERENCES "public"."orders"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "order_lines" ADD CONSTRAINT "order_lines_product_fk" FOREIGN KEY ("provider_id","product_id") REFERENCES "public"."products"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_customer_fk" FOREIGN KEY ("provider_id","customer_id") REFERENCES "public"."customers"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_campaign_fk" FOREIGN KEY ("provider_id","campaign_id") REFERENCES "public"."campaigns"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_seller_fk" FOREIGN KEY ("provider_id","seller_id") REFERENCES "public"."admin_memberships"("provider_id","admin_user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_user_fk" FOREIGN KEY ("provider_id","user_id") REFERENCES "public"."course_users"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_admin_user_fk" FOREIGN KEY ("provider_id","admin_user_id") REFERENCES "public"."admin_memberships"("provider_id","admin_user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attendances" ADD CONSTRAINT "attendances_participant_fk" FOREIGN KEY ("provider_id","participant_id") REFERENCES "public"."participants"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attendances" ADD CONSTRAINT "attendances_gathering_fk" FOREIGN KEY ("provider_id","gathering_id") REFERENCES "public"."gatherings"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "order_line_participants" ADD CONSTRAINT "order_line_participants_line_fk" FOREIGN KEY ("provider_id","order_line_id") REFERENCES "public"."order_lines"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "order_line_participants" ADD CONSTRAINT "order_line_participants_participant_fk" FOREIGN KEY ("provider_id","participant_id") REFERENCES "public"."participants"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "participants" ADD CONSTRAINT "participants_booking_fk" FOREIGN KEY ("provider_id","booking_id") REFERENCES "public"."bookings"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "participants" ADD CONSTRAINT "participants_date_fk" FOREIGN KEY ("provider_id","course_id","course_date_id") REFERENCES "public"."course_dates"("provider_id","course_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "participants" ADD CONSTRAINT "participants_user_fk" FOREIGN KEY ("provider_id","user_id") REFERENCES "public"."course_users"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "admin_membership_roles" ADD CONSTRAINT "admin_membership_roles_membership_fk" FOREIGN KEY ("provider_id","admin_user_id") REFERENCES "public"."admin_memberships"("provider_id","admin_user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "admin_membership_roles" ADD CONSTRAINT "admin_membership_roles_role_fk" FOREIGN KEY ("provider_id","role_id") REFERENCES "public"."roles"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "admin_memberships" ADD CONSTRAINT "admin_memberships_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "admin_memberships" ADD CONSTRAINT "admin_memberships_admin_user_fk" FOREIGN KEY ("admin_user_id") REFERENCES "public"."admin_users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "roles" ADD CONSTRAINT "roles_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "instructors" ADD CONSTRAINT "instructors_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "instructors" ADD CONSTRAINT "instructors_admin_user_fk" FOREIGN KEY ("provider_id","admin_user_id") REFERENCES "public"."admin_memberships"("provider_id","admin_user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "locations" ADD CONSTRAINT "locations_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "locations" ADD CONSTRAINT "locations_place_fk" FOREIGN KEY ("place_id") REFERENCES "public"."places"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "locations" ADD CONSTRAINT "locations_instructor_fk" FOREIGN KEY ("provider_id","instructor_id") REFERENCES "public"."instructors"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "places" ADD CONSTRAINT "places_parent_fk" FOREIGN KEY ("parent_id") REFERENCES "public"."places"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_users" ADD CONSTRAINT "course_users_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_users" ADD CONSTRAINT "course_users_customer_fk" FOREIGN KEY ("provider_id","customer_id") REFERENCES "public"."customers"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "campaign_customers_customer" ON "campaign_customers" USING btree ("provider_id","customer_id","campaign_id");--> statement-breakpoint
CREATE UNIQUE INDEX "campaigns_code" ON "campaigns" USING btree ("provider_id",lower("campaign_code" collate "und-x-icu")) WHERE "campaigns"."campaign_code" is not null and not "campaigns"."is_archived";--> statement-breakpoint
CREATE UNIQUE INDEX "vouchers_code" ON "vouchers" USING btree ("provider_id",lower("code" collate "und-x-icu")) WHERE "vouchers"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "course_dates_list" ON "course_dates" USING btree ("provider_id","id","course_id","is_visible","status_id") WHERE "course_dates"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "course_dates_starts" ON "course_dates" USING btree ("provider_id","starts_at","id");--> statement-breakpoint
CREATE INDEX "course_dates_ends" ON "course_dates" USING btree ("provider_id","ends_at","id");--> statement-breakpoint
CREATE INDEX "course_dates_created" ON "course_dates" USING btree ("provider_id","created_at","id");--> statement-breakpoint
CREATE INDEX "course_dates_updated" ON "course_dates" USING btree ("provider_id","updated_at","id");--> statement-breakpoint
CREATE INDEX "course_dates_status" ON "course_dates" USING btree ("provider_id","status_id","id");--> statement-breakpoint
CREATE INDEX "course_dates_participants" ON "course_dates" USING btree ("provider_id","id") WHERE "course_dates"."has_participants";--> statement-breakpoint
CREATE INDEX "course_dates_parent" ON "course_dates" USING btree ("provider_id","parent_id","id") WHERE "course_dates"."parent_id" is not null;--> statement-breakpoint
CREATE INDEX "course_dates_bundle" ON "course_dates" USING btree ("provider_id","bundle_id","id") WHERE "course_dates"."bundle_id" is not null;--> statement-breakpoint
CREATE INDEX "course_dates_location" ON "course_dates" USING btree ("provider_id","location_id") WHERE "course_dates"."location_id" is not null;--> statement-breakpoint
CREATE INDEX "gatherings_date" ON "gatherings" USING btree ("provider_id","course_date_id","starts_at","id") WHERE "gatherings"."deleted_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "bookings_order" ON "bookings" USING btree ("provider_id","order_id");--> statement-breakpoint
CREATE UNIQUE INDEX "order_lines_order" ON "order_lines" USING btree ("provider_id","order_id","product_id");--> statement-breakpoint
CREATE INDEX "order_lines_product" ON "order_lines" USING btree ("provider_id","product_id","order_id");--> statement-breakpoint
CREATE INDEX "orders_not_exported" ON "orders" USING btree ("provider_id","id") WHERE "orders"."exported_at" is null;--> statement-breakpoint
CREATE INDEX "orders_exported" ON "orders" USING btree ("provider_id","exported_at","id");--> statement-breakpoint
CREATE INDEX "orders_created" ON "orders" USING btree ("provider_id","created_at","id");--> statement-breakpoint
CREATE INDEX "orders_updated" ON "orders" USING btree ("provider_id","updated_at","id");--> statement-breakpoint
CREATE INDEX "orders_customer" ON "orders" USING btree ("provider_id","customer_id","id");--> statement-breakpoint
CREATE INDEX "outbox_due" ON "outbox" USING btree ("due_at","id") WHERE "outbox"."sent_at" is null;--> statement-breakpoint
CREATE INDEX "order_line_participants_participant" ON "order_line_participants" USING btree ("provider_id","participant_id","order_line_id");--> statement-breakpoint
CREATE INDEX "participants_date" ON "participants" USING btree ("provider_id","course_date_id","status_id","status_updated_at","id");--> statement-breakpoint
CREATE INDEX "participants_course" ON "participants" USING btree ("provider_id","course_id","id");--> statement-breakpoint
CREATE INDEX "participants_user" ON "participants" USING btree ("provider_id","user_id","id");--> statement-breakpoint
CREATE INDEX "participants_booking" ON "participants" USING btree ("provider_id","booking_id","id");--> statement-breakpoint
CREATE INDEX "participants_created" ON "participants" USING btree ("provider_id","created_at","id");--> statement-breakpoint
CREATE INDEX "participants_updated" ON "participants" USING btree ("provider_id","updated_at","id");--> statement-breakpoint
CREATE INDEX "admin_memberships_admin_user" ON "admin_memberships" USING btree ("admin_user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "admin_users_email" ON "admin_users" USING btree (lower("email" collate "und-x-icu"));--> statement-breakpoint
CREATE UNIQUE INDEX "roles_title" ON "roles" USING btree ("provider_id",lower("title" collate "und-x-icu"));--> statement-breakpoint
CREATE INDEX "instructors_created" ON "instructors" USING btree ("provider_id","created_at","id");--> statement-breakpoint
CREATE INDEX "instructors_updated" ON "instructors" USING btree ("provider_id","updated_at","id");--> statement-breakpoint
CREATE INDEX "locations_created" ON "locations" USING btree ("provider_id","created_at","id");--> statement-breakpoint
CREATE INDEX "locations_updated" ON "locations" USING btree ("provider_id","updated_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "places_title" ON "places" USING btree ("country",coalesce("parent_id", 0),lower("title" collate "und-x-icu"));--> statement-breakpoint
CREATE INDEX "places_parent" ON "places" USING btree ("parent_id");--> statement-breakpoint
CREATE UNIQUE INDEX "course_users_username" ON "course_users" USING btree ("provider_id",lower("username" collate "und-x-icu"));--> statement-breakpoint
CREATE INDEX "course_users_person" ON "course_users" USING btree ("provider_id",lower("email" collate "und-x-icu"),lower("lastname" collate "und-x-icu"),lower("firstname" collate "und-x-icu"));--> statement-breakpoint
CREATE INDEX "course_users_firstname" ON "course_users" USING btree ("provider_id",lower("firstname" collate "und-x-icu"));--> statement-breakpoint
CREATE INDEX "course_users_lastname" ON "course_users" USING btree ("provider_id",lower("lastname" collate "und-x-icu"));--> statement-breakpoint
CREATE INDEX "course_users_customer" ON "course_users" USING btree ("provider_id","customer_id","id");--> statement-breakpoint
ALTER TABLE "customers" ADD CONSTRAINT "customers_seller_fk" FOREIGN KEY ("provider_id","seller_id") REFERENCES "public"."admin_memberships"("provider_id","admin_user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "customers_created" ON "customers" USING btree ("provider_id","created_at","id");