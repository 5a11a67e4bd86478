-- The root of each parent chain, for sub-schools that exist already.
WITH RECURSIVE "chain" AS (
  SELECT "id", "id" AS "root_id" FROM "providers" WHERE "parent_id" IS NULL
  UNION ALL
  SELECT "p"."id", "c"."root_id" FROM "providers" "p" JOIN "chain" "c" ON "p"."parent_id" = "c"."id"
)
UPDATE "providers" SET "root_id" = "chain"."root_id"
FROM "chain" WHERE "providers"."id" = "chain"."id" AND "providers"."parent_id" IS NOT NULL;
