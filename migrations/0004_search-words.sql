-- The words of a text for a search, each below its provider, so that an index holds those of one school side by side.
-- Words are letters and digits, in the form of fold_text.
CREATE FUNCTION search_words(provider bigint, value text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1000
RETURN array_to_tsvector(array(
  SELECT provider::text || '/' || left(word, 100)
  FROM regexp_split_to_table(fold_text(value) COLLATE "und-x-icu", '[^[:alnum:]]+') AS word
  WHERE word <> ''
));
--> statement-breakpoint
-- Rows whose words begin with those of a text; null, which finds nothing, without any word.
CREATE FUNCTION search_query(provider bigint, value text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
  SELECT string_agg('''' || provider::text || '/' || left(word, 100) || ''':*', ' & ')::tsquery
  FROM regexp_split_to_table(fold_text(value) COLLATE "und-x-icu", '[^[:alnum:]]+') AS word
  WHERE word <> ''
);
