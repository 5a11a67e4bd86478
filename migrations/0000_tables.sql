-- The form in which names and titles are compared; foldText in the code returns the same.
CREATE FUNCTION fold_text(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT btrim(regexp_replace(
    translate(
      normalize(lower(value COLLATE "und-x-icu"), NFC),
      -- 24 blanks beside the space, 19 apostrophes, 17 hyphens.
      E'\u0009\u000a\u000b\u000c\u000d\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000'
      '\u0060\u00b4\u02b9\u02bb\u02bc\u02bd\u02be\u02bf\u02ca\u02cb\u055a\u2018\u2019\u201b\u2032\u2035\ua78c\uff07\uff40'
      '\u00ad\u02d7\u058a\u05be\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d',
      repeat(' ', 24) || repeat('''', 19) || repeat('-', 17)),
    ' {2,}', ' ', 'g'), ' ')
$$;
--> statement-breakpoint
CREATE TABLE "categories" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "categories_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"parent_id" bigint,
	"title" text NOT NULL,
	"slug" text NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "categories_title" CHECK ("categories"."title" <> '')
);
--> statement-breakpoint
CREATE TABLE "course_categories" (
	"provider_id" bigint NOT NULL,
	"course_id" bigint NOT NULL,
	"category_id" bigint NOT NULL,
	CONSTRAINT "course_categories_pk" PRIMARY KEY("provider_id","course_id","category_id")
);
--> statement-breakpoint
CREATE TABLE "course_labels" (
	"provider_id" bigint NOT NULL,
	"label_id" bigint NOT NULL,
	"course_id" bigint NOT NULL,
	CONSTRAINT "course_labels_pk" PRIMARY KEY("provider_id","label_id","course_id")
);
--> statement-breakpoint
CREATE TABLE "course_tags" (
	"provider_id" bigint NOT NULL,
	"tag_id" bigint NOT NULL,
	"course_id" bigint NOT NULL,
	CONSTRAINT "course_tags_pk" PRIMARY KEY("provider_id","tag_id","course_id")
);
--> statement-breakpoint
CREATE TABLE "labels" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "labels_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"title" text NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "labels_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "labels_title_given" CHECK ("labels"."title" <> '')
);
--> statement-breakpoint
CREATE TABLE "tags" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "tags_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"title" text NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "tags_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "tags_title_given" CHECK ("tags"."title" <> '')
);
--> statement-breakpoint
CREATE TABLE "course_translations" (
	"provider_id" bigint NOT NULL,
	"course_id" bigint NOT NULL,
	"language_id" text NOT NULL,
	"text_lead" text DEFAULT '' NOT NULL,
	"text_description" text DEFAULT '' NOT NULL,
	"text_place" text DEFAULT '' NOT NULL,
	"text_prerequisites" text DEFAULT '' NOT NULL,
	"text_duration" text DEFAULT '' NOT NULL,
	"text_credits" text DEFAULT '' NOT NULL,
	"text_submissions" text DEFAULT '' NOT NULL,
	"text_hotel_info" text DEFAULT '' NOT NULL,
	"text_audience" text DEFAULT '' NOT NULL,
	CONSTRAINT "course_translations_pk" PRIMARY KEY("provider_id","course_id","language_id")
);
--> statement-breakpoint
CREATE TABLE "courses" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "courses_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"customer_id" bigint,
	"title" text NOT NULL,
	"slug" text NOT NULL,
	"reference" text,
	"is_active" boolean DEFAULT true NOT NULL,
	"is_full_time" boolean,
	"is_part_time" boolean,
	"type" text DEFAULT 'public' NOT NULL,
	"publishing_platform" text DEFAULT 'both' NOT NULL,
	"level_id" integer NOT NULL,
	"form_of_teaching_id" integer NOT NULL,
	"teaching_language_id" text NOT NULL,
	"time_of_day_id" integer,
	"duration_value" integer,
	"duration_unit_id" integer,
	"price_value" numeric(12, 2),
	"price_currency" text DEFAULT 'NOK' NOT NULL,
	"price_comment" text,
	"external_booking_url" text,
	"external_more_info_url" text,
	"email_booking" text DEFAULT '' NOT NULL,
	"email_more_info" text DEFAULT '' NOT NULL,
	"text_lead" text DEFAULT '' NOT NULL,
	"text_description" text DEFAULT '' NOT NULL,
	"text_place" text DEFAULT '' NOT NULL,
	"text_prerequisites" text DEFAULT '' NOT NULL,
	"text_duration" text DEFAULT '' NOT NULL,
	"text_credits" text DEFAULT '' NOT NULL,
	"text_submissions" text DEFAULT '' NOT NULL,
	"text_hotel_info" text DEFAULT '' NOT NULL,
	"text_audience" text DEFAULT '' NOT NULL,
	"custom_properties" jsonb,
	"visit_address" text,
	"visit_address2" text,
	"visit_zipcode" text,
	"visit_city" text,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	"deleted_at" timestamp(6) with time zone,
	"related_items_updated_at" timestamp(6) with time zone,
	"reference_internal" text,
	"slug_has_id" boolean DEFAULT false NOT NULL,
	CONSTRAINT "courses_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "courses_title" CHECK ("courses"."title" <> ''),
	CONSTRAINT "courses_type" CHECK ("courses"."type" in ('public', 'internal', 'corporate')),
	CONSTRAINT "courses_platform" CHECK ("courses"."publishing_platform" in ('both', 'catalog', 'own')),
	CONSTRAINT "courses_duration" CHECK (("courses"."duration_value" is null) = ("courses"."duration_unit_id" is null)),
	CONSTRAINT "courses_price" CHECK ("courses"."price_value" >= 0),
	CONSTRAINT "courses_currency" CHECK ("courses"."price_currency" ~ '^[A-Z]{3}$'),
	CONSTRAINT "courses_corporate" CHECK (("courses"."type" = 'corporate') = ("courses"."customer_id" is not null))
);
--> statement-breakpoint
CREATE TABLE "products" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "products_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"course_id" bigint NOT NULL,
	"item_number" text DEFAULT '' NOT NULL,
	"title" text NOT NULL,
	"title_label" text,
	"price" numeric(12, 2) DEFAULT '0' NOT NULL,
	"currency" text DEFAULT 'NOK' NOT NULL,
	"vat_percentage" numeric(5, 2) DEFAULT '0' NOT NULL,
	"is_main_product" boolean DEFAULT false NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	"archived_at" timestamp(6) with time zone,
	"account_number" text,
	"cost_unit" text,
	"external_id" text,
	CONSTRAINT "products_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "products_price" CHECK ("products"."price" >= 0),
	CONSTRAINT "products_currency" CHECK ("products"."currency" ~ '^[A-Z]{3}$'),
	CONSTRAINT "products_vat" CHECK ("products"."vat_percentage" between 0 and 100)
);
--> statement-breakpoint
CREATE TABLE "customers" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "customers_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"parent_customer_id" bigint,
	"title" text NOT NULL,
	"department" text,
	"type" smallint DEFAULT 1 NOT NULL,
	"status" smallint DEFAULT 1 NOT NULL,
	"orgnr" text,
	"email" text,
	"phone" text,
	"fax" text,
	"webaddress" text,
	"country" text DEFAULT 'NO' NOT NULL,
	"customer_reference_id" text,
	"customer_reference" text,
	"always_use_customer_reference" boolean DEFAULT false NOT NULL,
	"note" text,
	"turnover" text,
	"invoice_method" text DEFAULT 'electronic' NOT NULL,
	"invoice_email" text,
	"duedate_days" integer DEFAULT 0 NOT NULL,
	"invoice_address" text,
	"invoice_address_2" text,
	"invoice_address_3" text,
	"invoice_zipcode" text,
	"invoice_city" text,
	"post_address" text,
	"post_address_2" text,
	"post_address_3" text,
	"post_zipcode" text,
	"post_city" text,
	"visit_address" text,
	"visit_address_2" text,
	"visit_address_3" text,
	"visit_zipcode" text,
	"visit_city" text,
	"custom_properties" jsonb,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	"seller_id" bigint,
	CONSTRAINT "customers_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "customers_title" CHECK ("customers"."title" <> ''),
	CONSTRAINT "customers_type" CHECK ("customers"."type" in (1, 2)),
	CONSTRAINT "customers_status" CHECK ("customers"."status" in (1, 2)),
	CONSTRAINT "customers_country" CHECK ("customers"."country" ~ '^[A-Z]{2}$')
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "api_keys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"hash" text NOT NULL,
	"label" text DEFAULT '' NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"expires_at" timestamp(6) with time zone,
	"revoked_at" timestamp(6) with time zone,
	"last_used_at" timestamp(6) with time zone,
	"profile" text DEFAULT 'full' NOT NULL,
	"origins" text[],
	CONSTRAINT "api_keys_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "api_keys_profile" CHECK ("api_keys"."profile" in ('full', 'read', 'booking', 'publishable')),
	CONSTRAINT "api_keys_origins" CHECK ("api_keys"."origins" is null or "api_keys"."profile" = 'publishable')
);
--> statement-breakpoint
CREATE TABLE "partner_connections" (
	"provider_id" bigint NOT NULL,
	"partner_id" bigint NOT NULL,
	"status" text NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "partner_connections_pk" PRIMARY KEY("provider_id","partner_id"),
	CONSTRAINT "partner_connections_status" CHECK ("partner_connections"."status" in ('requested', 'approved', 'revoked')),
	CONSTRAINT "partner_connections_two_providers" CHECK ("partner_connections"."provider_id" <> "partner_connections"."partner_id")
);
--> statement-breakpoint
CREATE TABLE "provider_state" (
	"provider_id" bigint PRIMARY KEY NOT NULL,
	"changed_at" timestamp(6) with time zone NOT NULL,
	"catalog_changed_at" timestamp(6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"dates_changed_at" timestamp(6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"people_changed_at" timestamp(6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"money_changed_at" timestamp(6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"school_changed_at" timestamp(6) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "providers" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "providers_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"parent_id" bigint,
	"title" text NOT NULL,
	"slug" text NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"reference" text,
	"org_nr" text DEFAULT '' NOT NULL,
	"phone" text DEFAULT '' NOT NULL,
	"email_admin" text DEFAULT '' NOT NULL,
	"email" text DEFAULT '' NOT NULL,
	"email_booking" text DEFAULT '' NOT NULL,
	"email_more_info" text DEFAULT '' NOT NULL,
	"post_address" text DEFAULT '' NOT NULL,
	"post_zip" text DEFAULT '' NOT NULL,
	"post_city" text DEFAULT '' NOT NULL,
	"visit_address" text DEFAULT '' NOT NULL,
	"visit_zip" text DEFAULT '' NOT NULL,
	"visit_city" text DEFAULT '' NOT NULL,
	"web_address" text DEFAULT '' NOT NULL,
	"text_tagline" text DEFAULT '' NOT NULL,
	"text_description" text DEFAULT '' NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	"root_id" bigint,
	"closed_at" timestamp(6) with time zone
);
--> statement-breakpoint
CREATE TABLE "service_state" (
	"id" smallint PRIMARY KEY NOT NULL,
	"changed_at" timestamp(6) with time zone NOT NULL,
	"releases" text[] DEFAULT '{}' NOT NULL,
	CONSTRAINT "service_state_one_row" CHECK ("service_state"."id" = 1)
);
--> statement-breakpoint
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
	"spent_before" numeric(12, 2) DEFAULT '0' NOT NULL,
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
	"place_is_sought" boolean DEFAULT false NOT NULL,
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
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "outbox_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"provider_id" bigint NOT NULL,
	"purpose" text NOT NULL,
	"user_id" bigint,
	"admin_user_id" bigint,
	"created_at" timestamp(6) with time zone NOT NULL,
	"due_at" timestamp(6) with time zone NOT NULL,
	"sent_at" timestamp(6) with time zone,
	"participant_id" bigint,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"failed_at" timestamp(6) with time zone,
	"webhook_id" bigint,
	"is_written" boolean DEFAULT false NOT NULL,
	CONSTRAINT "outbox_participant" CHECK (("outbox"."participant_id" is not null) = ("outbox"."purpose" in ('receipt', 'deregistration'))),
	CONSTRAINT "outbox_webhook" CHECK (("outbox"."webhook_id" is not null) = ("outbox"."purpose" = 'webhook_disabled')),
	CONSTRAINT "outbox_person" CHECK (num_nonnulls("outbox"."user_id", "outbox"."admin_user_id") = 1 or "outbox"."user_id" is null and "outbox"."purpose" = 'webhook_disabled'),
	CONSTRAINT "outbox_pk" PRIMARY KEY("provider_id","id")
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
	"firstname" text DEFAULT '' NOT NULL,
	"lastname" text DEFAULT '' NOT NULL,
	CONSTRAINT "admin_memberships_pk" PRIMARY KEY("provider_id","admin_user_id")
);
--> statement-breakpoint
CREATE TABLE "admin_users" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "admin_users_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"email" text NOT NULL,
	"firstname" text,
	"lastname" text,
	"password_hash" text,
	"created_at" timestamp(6) with time zone NOT NULL
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
CREATE TABLE "import_refs" (
	"provider_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"ref" text NOT NULL,
	"item_id" bigint NOT NULL,
	"created_at" timestamp(6) with time zone DEFAULT now() NOT NULL,
	"content" text,
	CONSTRAINT "import_refs_pk" PRIMARY KEY("provider_id","kind","ref")
);
--> statement-breakpoint
CREATE TABLE "idempotency_records" (
	"provider_id" bigint NOT NULL,
	"key_hash" text NOT NULL,
	"fingerprint" text NOT NULL,
	"booking_id" bigint NOT NULL,
	"answer" jsonb NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"expires_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "idempotency_records_pk" PRIMARY KEY("provider_id","key_hash")
);
--> statement-breakpoint
CREATE TABLE "voucher_redemptions" (
	"provider_id" bigint NOT NULL,
	"voucher_id" bigint NOT NULL,
	"order_id" bigint NOT NULL,
	"amount" numeric(12, 2) NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "voucher_redemptions_pk" PRIMARY KEY("provider_id","voucher_id","order_id"),
	CONSTRAINT "voucher_redemptions_amount" CHECK ("voucher_redemptions"."amount" > 0)
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"provider_id" bigint NOT NULL,
	"hash" text NOT NULL,
	"user_id" bigint NOT NULL,
	"created_at" timestamp(6) with time zone NOT NULL,
	"used_at" timestamp(6) with time zone NOT NULL,
	"expires_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "sessions_pk" PRIMARY KEY("hash","provider_id")
);
--> statement-breakpoint
CREATE TABLE "sign_on_failures" (
	"provider_id" bigint NOT NULL,
	"username_hash" text NOT NULL,
	"window_started_at" timestamp(6) with time zone NOT NULL,
	"failures" integer NOT NULL,
	"pending" integer DEFAULT 0 NOT NULL,
	"attempted_at" timestamp(6) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sign_on_failures_pk" PRIMARY KEY("provider_id","username_hash")
);
--> statement-breakpoint
CREATE TABLE "tokens" (
	"provider_id" bigint NOT NULL,
	"hash" text NOT NULL,
	"purpose" text NOT NULL,
	"user_id" bigint,
	"admin_user_id" bigint,
	"mail_id" bigint,
	"created_at" timestamp(6) with time zone NOT NULL,
	"expires_at" timestamp(6) with time zone NOT NULL,
	"used_at" timestamp(6) with time zone,
	CONSTRAINT "tokens_person" CHECK (num_nonnulls("tokens"."user_id", "tokens"."admin_user_id") = 1),
	CONSTRAINT "tokens_pk" PRIMARY KEY("hash","provider_id")
);
--> statement-breakpoint
CREATE TABLE "audit_entries" (
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "audit_entries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"provider_id" bigint NOT NULL,
	"at" timestamp(6) with time zone NOT NULL,
	"actor" text NOT NULL,
	"actor_id" bigint,
	"action" text NOT NULL,
	"item_ids" bigint[] NOT NULL,
	CONSTRAINT "audit_entries_actor" CHECK ("audit_entries"."actor" in ('key', 'course_user', 'admin_user', 'operator', 'server')),
	CONSTRAINT "audit_entries_actor_id" CHECK (("audit_entries"."actor_id" is null) = ("audit_entries"."actor" in ('operator', 'server'))),
	CONSTRAINT "audit_entries_pk" PRIMARY KEY("provider_id","id")
);
--> statement-breakpoint
CREATE TABLE "events" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp(6) with time zone NOT NULL,
	"resource" text NOT NULL,
	"change" text NOT NULL,
	"resource_id" bigint,
	CONSTRAINT "events_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "events_resource_id" CHECK (("events"."resource_id" is null) = ("events"."change" = 'resync'))
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"provider_id" bigint NOT NULL,
	"webhook_id" bigint NOT NULL,
	"slot" integer NOT NULL,
	"number" bigint NOT NULL,
	"at" timestamp(6) with time zone NOT NULL,
	"message_id" text NOT NULL,
	"type" text NOT NULL,
	"status_code" integer,
	"duration_ms" integer NOT NULL,
	"error" text,
	CONSTRAINT "webhook_deliveries_pk" PRIMARY KEY("provider_id","webhook_id","slot")
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "webhooks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"url" text NOT NULL,
	"host" text NOT NULL,
	"types" text[],
	"description" text DEFAULT '' NOT NULL,
	"payload" text DEFAULT 'full' NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"secret" text NOT NULL,
	"previous_secret" text,
	"previous_secret_expires_at" timestamp(6) with time zone,
	"position" bigint NOT NULL,
	"position_clock" bigint NOT NULL,
	"resyncs" text[] DEFAULT '{}' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failing_since" timestamp(6) with time zone,
	"due_at" timestamp(6) with time zone NOT NULL,
	"leased_by" text,
	"leased_until" timestamp(6) with time zone,
	"attempt_count" bigint DEFAULT 0 NOT NULL,
	"disabled_at" timestamp(6) with time zone,
	"disabled_reason" text,
	"created_at" timestamp(6) with time zone NOT NULL,
	"updated_at" timestamp(6) with time zone NOT NULL,
	"is_waiting" boolean DEFAULT true NOT NULL,
	"slow_attempts" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "webhooks_pk" PRIMARY KEY("provider_id","id"),
	CONSTRAINT "webhooks_payload" CHECK ("webhooks"."payload" in ('full', 'thin')),
	CONSTRAINT "webhooks_disabled" CHECK (("webhooks"."disabled_at" is null) = ("webhooks"."disabled_reason" is null)),
	CONSTRAINT "webhooks_previous_secret" CHECK (("webhooks"."previous_secret" is null) = ("webhooks"."previous_secret_expires_at" is null))
);
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE "api_key_uses" (
	"provider_id" bigint NOT NULL,
	"key_id" bigint NOT NULL,
	"last_used_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "api_key_uses_pk" PRIMARY KEY("provider_id","key_id")
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "staged_lines" (
	"provider_id" bigint NOT NULL,
	"line" integer NOT NULL,
	"part" integer NOT NULL,
	"kind" text NOT NULL,
	"table" text NOT NULL,
	"data" jsonb NOT NULL,
	"refs" jsonb NOT NULL,
	"ref_kind" text,
	"ref" text,
	"unique_text" text,
	"bad" boolean,
	"staged_at" timestamp(6) with time zone NOT NULL,
	"content" text,
	CONSTRAINT "staged_lines_pk" PRIMARY KEY("provider_id","line","part")
);
--> statement-breakpoint
CREATE TABLE "webhook_tests" (
	"provider_id" bigint NOT NULL,
	"token" text NOT NULL,
	"started_at" timestamp(6) with time zone NOT NULL,
	"expires_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "webhook_tests_pk" PRIMARY KEY("provider_id")
);
--> statement-breakpoint
CREATE TABLE "webhook_wakeups" (
	"provider_id" bigint NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "webhook_wakeups_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	CONSTRAINT "webhook_wakeups_pk" PRIMARY KEY("provider_id","id")
);
--> statement-breakpoint
CREATE TABLE "provider_limits" (
	"provider_id" bigint PRIMARY KEY NOT NULL,
	"per_second" integer NOT NULL,
	"burst" integer NOT NULL,
	CONSTRAINT "provider_limits_rate" CHECK ("provider_limits"."per_second" > 0 and "provider_limits"."burst" >= "provider_limits"."per_second")
);
--> statement-breakpoint
CREATE TABLE "provider_usage" (
	"provider_id" bigint NOT NULL,
	"hour" timestamp(6) with time zone NOT NULL,
	"requests" bigint NOT NULL,
	"refused" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"milliseconds" bigint NOT NULL,
	"peak_per_minute" integer NOT NULL,
	CONSTRAINT "provider_usage_pk" PRIMARY KEY("provider_id","hour")
);
--> statement-breakpoint
CREATE TABLE "catalog_addresses" (
	"address" text PRIMARY KEY NOT NULL,
	"provider_id" bigint NOT NULL,
	"course_id" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "categories" ADD CONSTRAINT "categories_parent_fk" FOREIGN KEY ("parent_id") REFERENCES "public"."categories"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_categories" ADD CONSTRAINT "course_categories_course_fk" FOREIGN KEY ("provider_id","course_id") REFERENCES "public"."courses"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_categories" ADD CONSTRAINT "course_categories_category_fk" FOREIGN KEY ("category_id") REFERENCES "public"."categories"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_labels" ADD CONSTRAINT "course_labels_label_fk" FOREIGN KEY ("provider_id","label_id") REFERENCES "public"."labels"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_labels" ADD CONSTRAINT "course_labels_course_fk" FOREIGN KEY ("provider_id","course_id") REFERENCES "public"."courses"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_tags" ADD CONSTRAINT "course_tags_tag_fk" FOREIGN KEY ("provider_id","tag_id") REFERENCES "public"."tags"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_tags" ADD CONSTRAINT "course_tags_course_fk" FOREIGN KEY ("provider_id","course_id") REFERENCES "public"."courses"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "labels" ADD CONSTRAINT "labels_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tags" ADD CONSTRAINT "tags_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "course_translations" ADD CONSTRAINT "course_translations_course_fk" FOREIGN KEY ("provider_id","course_id") REFERENCES "public"."courses"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "courses" ADD CONSTRAINT "courses_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "courses" ADD CONSTRAINT "courses_customer_fk" FOREIGN KEY ("provider_id","customer_id") REFERENCES "public"."customers"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "products" ADD CONSTRAINT "products_course_fk" FOREIGN KEY ("provider_id","course_id") REFERENCES "public"."courses"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "customers" ADD CONSTRAINT "customers_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "customers" ADD CONSTRAINT "customers_parent_fk" FOREIGN KEY ("provider_id","parent_customer_id") REFERENCES "public"."customers"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "partner_connections" ADD CONSTRAINT "partner_connections_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "partner_connections" ADD CONSTRAINT "partner_connections_partner_fk" FOREIGN KEY ("partner_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provider_state" ADD CONSTRAINT "provider_state_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "providers" ADD CONSTRAINT "providers_parent_fk" FOREIGN KEY ("parent_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
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
ALTER TABLE "customers" ADD CONSTRAINT "customers_seller_fk" FOREIGN KEY ("provider_id","seller_id") REFERENCES "public"."admin_memberships"("provider_id","admin_user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "import_refs" ADD CONSTRAINT "import_refs_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_records" ADD CONSTRAINT "idempotency_records_booking_fk" FOREIGN KEY ("provider_id","booking_id") REFERENCES "public"."bookings"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "voucher_redemptions" ADD CONSTRAINT "voucher_redemptions_voucher_fk" FOREIGN KEY ("provider_id","voucher_id") REFERENCES "public"."vouchers"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "voucher_redemptions" ADD CONSTRAINT "voucher_redemptions_order_fk" FOREIGN KEY ("provider_id","order_id") REFERENCES "public"."orders"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_participant_fk" FOREIGN KEY ("provider_id","participant_id") REFERENCES "public"."participants"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_fk" FOREIGN KEY ("provider_id","user_id") REFERENCES "public"."course_users"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sign_on_failures" ADD CONSTRAINT "sign_on_failures_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_user_fk" FOREIGN KEY ("provider_id","user_id") REFERENCES "public"."course_users"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_admin_user_fk" FOREIGN KEY ("provider_id","admin_user_id") REFERENCES "public"."admin_memberships"("provider_id","admin_user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "providers" ADD CONSTRAINT "providers_root_fk" FOREIGN KEY ("root_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhook_fk" FOREIGN KEY ("provider_id","webhook_id") REFERENCES "public"."webhooks"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_mail_fk" FOREIGN KEY ("provider_id","mail_id") REFERENCES "public"."outbox"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_key_uses" ADD CONSTRAINT "api_key_uses_key_fk" FOREIGN KEY ("provider_id","key_id") REFERENCES "public"."api_keys"("provider_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_tests" ADD CONSTRAINT "webhook_tests_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provider_limits" ADD CONSTRAINT "provider_limits_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "catalog_addresses" ADD CONSTRAINT "catalog_addresses_provider_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "categories_parent" ON "categories" USING btree ("parent_id");--> statement-breakpoint
CREATE UNIQUE INDEX "categories_slug" ON "categories" USING btree ("slug");--> statement-breakpoint
CREATE INDEX "course_categories_category" ON "course_categories" USING btree ("category_id");--> statement-breakpoint
CREATE INDEX "course_labels_course" ON "course_labels" USING btree ("provider_id","course_id","label_id");--> statement-breakpoint
CREATE INDEX "course_tags_course" ON "course_tags" USING btree ("provider_id","course_id","tag_id");--> statement-breakpoint
CREATE UNIQUE INDEX "labels_title" ON "labels" USING btree ("provider_id",lower("title" collate "und-x-icu"));--> statement-breakpoint
CREATE UNIQUE INDEX "tags_title" ON "tags" USING btree ("provider_id",lower("title" collate "und-x-icu"));--> statement-breakpoint
CREATE UNIQUE INDEX "courses_active_title" ON "courses" USING btree ("provider_id",lower("title" collate "und-x-icu")) WHERE "courses"."is_active" and "courses"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "courses_list" ON "courses" USING btree ("provider_id","id","is_active","type","publishing_platform") WHERE "courses"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "courses_created" ON "courses" USING btree ("provider_id","created_at","id");--> statement-breakpoint
CREATE INDEX "courses_updated" ON "courses" USING btree ("provider_id","updated_at","id");--> statement-breakpoint
CREATE INDEX "courses_customer" ON "courses" USING btree ("provider_id","customer_id","id") WHERE "courses"."customer_id" is not null;--> statement-breakpoint
CREATE INDEX "products_course" ON "products" USING btree ("provider_id","course_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "products_main" ON "products" USING btree ("provider_id","course_id") WHERE "products"."is_main_product";--> statement-breakpoint
CREATE INDEX "customers_parent" ON "customers" USING btree ("provider_id","parent_customer_id");--> statement-breakpoint
CREATE INDEX "customers_updated" ON "customers" USING btree ("provider_id","updated_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_hash" ON "api_keys" USING btree ("hash");--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_id" ON "api_keys" USING btree ("id");--> statement-breakpoint
CREATE INDEX "partner_connections_partner" ON "partner_connections" USING btree ("partner_id");--> statement-breakpoint
CREATE INDEX "providers_parent" ON "providers" USING btree ("parent_id");--> statement-breakpoint
CREATE INDEX "campaign_customers_customer" ON "campaign_customers" USING btree ("provider_id","customer_id","campaign_id");--> statement-breakpoint
CREATE UNIQUE INDEX "campaigns_code" ON "campaigns" USING btree ("provider_id",lower("campaign_code" collate "und-x-icu")) WHERE "campaigns"."campaign_code" is not null and not "campaigns"."is_archived";--> statement-breakpoint
CREATE UNIQUE INDEX "vouchers_code" ON "vouchers" USING btree ("provider_id",lower("code" collate "und-x-icu")) WHERE "vouchers"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "course_dates_list" ON "course_dates" USING btree ("provider_id","id","course_id","is_visible","status_id") WHERE "course_dates"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "course_dates_starts" ON "course_dates" USING btree ("provider_id","starts_at","id");--> statement-breakpoint
CREATE INDEX "course_dates_ends" ON "course_dates" USING btree ("provider_id","ends_at","id");--> statement-breakpoint
CREATE INDEX "course_dates_created" ON "course_dates" USING btree ("provider_id","created_at","id");--> statement-breakpoint
CREATE INDEX "course_dates_updated" ON "course_dates" USING btree ("provider_id","updated_at","id");--> statement-breakpoint
CREATE INDEX "course_dates_status" ON "course_dates" USING btree ("provider_id","status_id","id");--> statement-breakpoint
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
CREATE INDEX "course_users_customer" ON "course_users" USING btree ("provider_id","customer_id","id");--> statement-breakpoint
CREATE INDEX "customers_created" ON "customers" USING btree ("provider_id","created_at","id");--> statement-breakpoint
CREATE INDEX "products_created" ON "products" USING btree ("provider_id","created_at","id");--> statement-breakpoint
CREATE INDEX "products_updated" ON "products" USING btree ("provider_id","updated_at","id");--> statement-breakpoint
CREATE INDEX "idempotency_records_expires" ON "idempotency_records" USING btree ("provider_id","expires_at");--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("provider_id","user_id");--> statement-breakpoint
CREATE INDEX "sessions_expires" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sign_on_failures_window" ON "sign_on_failures" USING btree ("provider_id","window_started_at");--> statement-breakpoint
CREATE UNIQUE INDEX "tokens_mail" ON "tokens" USING btree ("mail_id");--> statement-breakpoint
CREATE INDEX "tokens_user" ON "tokens" USING btree ("provider_id","user_id");--> statement-breakpoint
CREATE INDEX "tokens_expires" ON "tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "course_dates_participants" ON "course_dates" USING btree ("provider_id","has_participants","id");--> statement-breakpoint
CREATE INDEX "outbox_unsent" ON "outbox" USING btree ("provider_id","due_at","id") WHERE "outbox"."sent_at" is null and "outbox"."failed_at" is null;--> statement-breakpoint
CREATE INDEX "providers_root" ON "providers" USING btree ("root_id");--> statement-breakpoint
CREATE INDEX "course_dates_upcoming" ON "course_dates" USING btree ("provider_id","starts_at","id","course_id","start_at","zone","deadline_at","visible_when_passed_deadline") WHERE "course_dates"."is_visible" and "course_dates"."status_id" <> 3 and "course_dates"."parent_id" is null and "course_dates"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "gatherings_location" ON "gatherings" USING btree ("provider_id","location_id") WHERE "gatherings"."location_id" is not null and "gatherings"."deleted_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "tokens_mail_id" ON "tokens" USING btree ("provider_id","mail_id");--> statement-breakpoint
CREATE INDEX "audit_entries_id" ON "audit_entries" USING btree ("id");--> statement-breakpoint
CREATE INDEX "outbox_id" ON "outbox" USING btree ("id");--> statement-breakpoint
CREATE INDEX "staged_lines_line" ON "staged_lines" USING btree ("provider_id","kind","line");--> statement-breakpoint
CREATE INDEX "staged_lines_ref" ON "staged_lines" USING btree ("provider_id","ref_kind","ref") WHERE "staged_lines"."ref" is not null;--> statement-breakpoint
CREATE INDEX "webhooks_due" ON "webhooks" USING btree ("due_at") WHERE "webhooks"."is_active" and ("webhooks"."is_waiting" or "webhooks"."resyncs" <> '{}');--> statement-breakpoint
CREATE UNIQUE INDEX "catalog_addresses_course" ON "catalog_addresses" USING btree ("provider_id","course_id");--> statement-breakpoint
CREATE INDEX "labels_folded_title" ON "labels" USING btree ("provider_id",fold_text("title") collate "C");--> statement-breakpoint
CREATE INDEX "tags_folded_title" ON "tags" USING btree ("provider_id",fold_text("title") collate "C");--> statement-breakpoint
CREATE INDEX "courses_folded_title" ON "courses" USING btree ("provider_id",fold_text("title") collate "C") WHERE "courses"."is_active" and "courses"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "course_users_folded_person" ON "course_users" USING btree ("provider_id",lower("email" collate "und-x-icu"),fold_text("lastname") collate "C",fold_text("firstname") collate "C");--> statement-breakpoint
CREATE INDEX "course_users_folded_firstname" ON "course_users" USING btree ("provider_id",fold_text("firstname") collate "C");--> statement-breakpoint
CREATE INDEX "course_users_folded_lastname" ON "course_users" USING btree ("provider_id",fold_text("lastname") collate "C");--> statement-breakpoint
CREATE INDEX "course_users_folded_username" ON "course_users" USING btree ("provider_id",fold_text("username") collate "C");
