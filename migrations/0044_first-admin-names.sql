-- The names as first given, which later memberships start with, are those of the oldest membership that has any.
DO $$
DECLARE
  first record;
BEGIN
  FOR first IN
    SELECT DISTINCT ON (admin_user_id) admin_user_id, firstname, lastname FROM admin_memberships
    WHERE firstname <> '' OR lastname <> '' ORDER BY admin_user_id, created_at, provider_id
  LOOP
    UPDATE admin_users SET firstname = first.firstname, lastname = first.lastname
    WHERE id = first.admin_user_id AND (firstname IS NULL OR lastname IS NULL);
  END LOOP;
END $$;
