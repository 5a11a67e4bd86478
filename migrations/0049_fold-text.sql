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
