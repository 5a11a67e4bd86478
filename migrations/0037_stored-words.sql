-- The form in which a search compares texts; foldSearch in the code returns the same.
CREATE FUNCTION fold_search(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT regexp_replace(regexp_replace(
    replace(replace(replace(
      translate(regexp_replace(normalize(fold_text(value), NFD), '[\u0300-\u036f]+', '', 'g'), 'øœđðłıħŋŧ', 'ooddlihnt'),
    'æ', 'ae'), 'ß', 'ss'), 'þ', 'th'),
  'aa+', 'a', 'g'), 'oe+', 'o', 'g')
$$;
--> statement-breakpoint
-- Without apostrophes, and without the signs between the digits of a number: obrien, 923609016.
CREATE FUNCTION join_words(folded text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT regexp_replace(folded, '''|(?<=[0-9])[ .-](?=[0-9])', '', 'g')
$$;
--> statement-breakpoint
-- The words of a text for a search, each below its provider, so that an index holds those of one school side by side.
-- Words are letters and digits, in the form of fold_search, also joined.
CREATE OR REPLACE FUNCTION search_words(provider bigint, value text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1000
RETURN (
  SELECT array_to_tsvector(array(
    SELECT provider::text || '/' || left(word, 100)
    FROM regexp_split_to_table(folded || CASE WHEN joined = folded THEN '' ELSE ' ' || joined END
      COLLATE "und-x-icu", '[^[:alnum:]]+') AS word
    WHERE word <> ''))
  FROM (SELECT folded, join_words(folded) AS joined
    FROM (SELECT fold_search(value) AS folded OFFSET 0) AS f OFFSET 0) AS texts
);
--> statement-breakpoint
-- Rows whose words begin with those of a text, or with those of the joined text; null, which finds nothing, without any.
CREATE OR REPLACE FUNCTION search_query(provider bigint, value text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
  SELECT string_agg(DISTINCT words, ' | ')::tsquery FROM (
    SELECT (
      SELECT string_agg('''' || provider::text || '/' || left(word, 100) || ''':*', ' & ')
      FROM regexp_split_to_table(text COLLATE "und-x-icu", '[^[:alnum:]]+') AS word
      WHERE word <> '') AS words
    FROM (SELECT fold_search(value) AS folded OFFSET 0) AS f, unnest(ARRAY[folded, join_words(folded)]) AS text) AS texts
);
--> statement-breakpoint
DROP INDEX "course_dates_words";--> statement-breakpoint
DROP INDEX "courses_words";--> statement-breakpoint
DROP INDEX "customers_orgnr";--> statement-breakpoint
DROP INDEX "customers_words";--> statement-breakpoint
DROP INDEX "orders_words";--> statement-breakpoint
DROP INDEX "course_users_words";--> statement-breakpoint
ALTER TABLE "course_dates" ADD COLUMN "words" "tsvector" GENERATED ALWAYS AS (search_words(provider_id, coalesce(title, ''))) STORED;--> statement-breakpoint
ALTER TABLE "courses" ADD COLUMN "words" "tsvector" GENERATED ALWAYS AS (search_words(provider_id, coalesce(title, '') || ' / ' || coalesce(reference, ''))) STORED;--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "words" "tsvector" GENERATED ALWAYS AS (search_words(provider_id, coalesce(title, '') || ' / ' || coalesce(orgnr, '') || ' / ' || coalesce(email, '') || ' / ' || coalesce(customer_reference_id, '') || ' / ' || coalesce(customer_reference, ''))) STORED;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "words" "tsvector" GENERATED ALWAYS AS (search_words(provider_id, coalesce(your_reference, '') || ' / ' || coalesce(booker, ''))) STORED;--> statement-breakpoint
ALTER TABLE "course_users" ADD COLUMN "words" "tsvector" GENERATED ALWAYS AS (search_words(provider_id, coalesce(firstname, '') || ' / ' || coalesce(lastname, '') || ' / ' || coalesce(email, ''))) STORED;--> statement-breakpoint
CREATE INDEX "payments_folded_reference" ON "payments" USING btree ("provider_id",fold_text("reference") collate "C") WHERE "payments"."reference" is not null;--> statement-breakpoint
CREATE INDEX "course_dates_words" ON "course_dates" USING gin ("words");--> statement-breakpoint
CREATE INDEX "courses_words" ON "courses" USING gin ("words");--> statement-breakpoint
CREATE INDEX "customers_orgnr" ON "customers" USING btree ("provider_id",coalesce(nullif(regexp_replace("orgnr", '[^0-9]', '', 'g'), ''), "orgnr")) WHERE "customers"."orgnr" is not null;--> statement-breakpoint
CREATE INDEX "customers_words" ON "customers" USING gin ("words");--> statement-breakpoint
CREATE INDEX "orders_words" ON "orders" USING gin ("words");--> statement-breakpoint
CREATE INDEX "course_users_words" ON "course_users" USING gin ("words");--> statement-breakpoint
ANALYZE course_dates (words), courses (words), customers (words), orders (words), course_users (words);
