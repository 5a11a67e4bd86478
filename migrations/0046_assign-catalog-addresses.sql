-- The oldest course of an address keeps it; the others append their ids.
DO $$
DECLARE
  course record;
  candidate text;
BEGIN
  CREATE TEMPORARY TABLE unaddressed ON COMMIT DROP AS
  SELECT c.provider_id, c.id, c.slug, coalesce(k.slug || '/', '') AS path, c.created_at
  FROM courses c
    LEFT JOIN (
      SELECT provider_id, course_id, min(category_id) AS id FROM course_categories GROUP BY provider_id, course_id
    ) f ON f.provider_id = c.provider_id AND f.course_id = c.id
    LEFT JOIN categories k ON k.id = f.id
  WHERE c.deleted_at IS NULL;

  INSERT INTO catalog_addresses (address, provider_id, course_id)
  SELECT DISTINCT ON (path || slug) path || slug, provider_id, id FROM unaddressed
  ORDER BY path || slug, created_at, provider_id, id;

  FOR course IN
    SELECT u.* FROM unaddressed u
    WHERE NOT EXISTS (SELECT FROM catalog_addresses a WHERE a.provider_id = u.provider_id AND a.course_id = u.id)
    ORDER BY u.created_at, u.provider_id, u.id
  LOOP
    candidate := course.slug;
    LOOP
      candidate := candidate || '-' || course.id;
      INSERT INTO catalog_addresses (address, provider_id, course_id)
      VALUES (course.path || candidate, course.provider_id, course.id) ON CONFLICT (address) DO NOTHING;
      EXIT WHEN FOUND;
    END LOOP;
    UPDATE courses SET slug = candidate, slug_has_id = true
    WHERE provider_id = course.provider_id AND id = course.id;
  END LOOP;
END $$;
