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
	CONSTRAINT "api_keys_pk" PRIMARY KEY("provider_id","id")
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
	"changed_at" timestamp(6) with time zone NOT NULL
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
	"updated_at" timestamp(6) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "service_state" (
	"id" smallint PRIMARY KEY NOT NULL,
	"changed_at" timestamp(6) with time zone NOT NULL,
	CONSTRAINT "service_state_one_row" CHECK ("service_state"."id" = 1)
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
CREATE INDEX "providers_parent" ON "providers" USING btree ("parent_id");