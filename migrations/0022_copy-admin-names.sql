-- Each membership takes over the name that the person had at all providers.
UPDATE "admin_memberships" SET "firstname" = "admin_users"."firstname", "lastname" = "admin_users"."lastname"
FROM "admin_users" WHERE "admin_users"."id" = "admin_memberships"."admin_user_id"
  AND "admin_users"."firstname" IS NOT NULL AND "admin_users"."lastname" IS NOT NULL;
