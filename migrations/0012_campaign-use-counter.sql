ALTER TABLE "campaigns" ADD COLUMN "uses" integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
-- The uses of a campaign are its orders, kept by differences as the seats of a date are.
CREATE FUNCTION orders_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE campaigns c SET uses = c.uses + n.uses
  FROM (SELECT provider_id, campaign_id, count(*) AS uses FROM added WHERE campaign_id IS NOT NULL
    GROUP BY provider_id, campaign_id) n
  WHERE c.provider_id = n.provider_id AND c.id = n.campaign_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION orders_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE campaigns c SET uses = c.uses + n.uses
  FROM (SELECT provider_id, campaign_id, sum(uses) AS uses
    FROM (SELECT provider_id, campaign_id, 1 AS uses FROM added UNION ALL SELECT provider_id, campaign_id, -1 FROM gone) moved
    WHERE campaign_id IS NOT NULL GROUP BY provider_id, campaign_id HAVING sum(uses) <> 0) n
  WHERE c.provider_id = n.provider_id AND c.id = n.campaign_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION orders_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE campaigns c SET uses = c.uses - n.uses
  FROM (SELECT provider_id, campaign_id, count(*) AS uses FROM gone WHERE campaign_id IS NOT NULL
    GROUP BY provider_id, campaign_id) n
  WHERE c.provider_id = n.provider_id AND c.id = n.campaign_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER orders_inserted AFTER INSERT ON orders REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION orders_inserted();
--> statement-breakpoint
CREATE TRIGGER orders_updated AFTER UPDATE ON orders REFERENCING NEW TABLE AS added OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION orders_updated();
--> statement-breakpoint
CREATE TRIGGER orders_deleted AFTER DELETE ON orders REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION orders_deleted();
--> statement-breakpoint
UPDATE campaigns c SET uses = n.uses
FROM (SELECT provider_id, campaign_id, count(*) AS uses FROM orders WHERE campaign_id IS NOT NULL
  GROUP BY provider_id, campaign_id) n
WHERE c.provider_id = n.provider_id AND c.id = n.campaign_id;
