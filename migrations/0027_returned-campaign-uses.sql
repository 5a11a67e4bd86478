ALTER TABLE "orders" ADD COLUMN "is_use_returned" boolean DEFAULT false NOT NULL;
--> statement-breakpoint
-- True for an order of which no place and no amount is left.
CREATE FUNCTION is_order_void(provider bigint, of_order bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT bool_and(p.status_id IN (4, 8)) FROM bookings b
      JOIN participants p ON p.provider_id = b.provider_id AND p.booking_id = b.id
      WHERE b.provider_id = provider AND b.order_id = of_order), false)
    AND (SELECT total_before_discounts - total_discounts + total_vat FROM orders
      WHERE provider_id = provider AND id = of_order)
    + (SELECT coalesce(sum(total_before_discounts - total_discounts + total_vat), 0) FROM orders
      WHERE provider_id = provider AND first_order_id = of_order AND kind = 'credit') <= 0
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION orders_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE campaigns c SET uses = c.uses + n.uses
  FROM (SELECT provider_id, campaign_id, count(*) AS uses FROM added
    WHERE campaign_id IS NOT NULL AND kind = 'order' AND NOT is_use_returned GROUP BY provider_id, campaign_id) n
  WHERE c.provider_id = n.provider_id AND c.id = n.campaign_id;
  UPDATE orders o SET is_use_returned = is_order_void(o.provider_id, o.id)
  FROM added c
  WHERE c.kind = 'credit' AND o.provider_id = c.provider_id AND o.id = c.first_order_id AND o.campaign_id IS NOT NULL
    AND o.is_use_returned <> is_order_void(o.provider_id, o.id);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION orders_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE campaigns c SET uses = c.uses + n.uses
  FROM (SELECT provider_id, campaign_id, sum(uses) AS uses
    FROM (SELECT provider_id, campaign_id, kind, is_use_returned, 1 AS uses FROM added
      UNION ALL SELECT provider_id, campaign_id, kind, is_use_returned, -1 FROM gone) moved
    WHERE campaign_id IS NOT NULL AND kind = 'order' AND NOT is_use_returned
    GROUP BY provider_id, campaign_id HAVING sum(uses) <> 0) n
  WHERE c.provider_id = n.provider_id AND c.id = n.campaign_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION orders_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE campaigns c SET uses = c.uses - n.uses
  FROM (SELECT provider_id, campaign_id, count(*) AS uses FROM gone
    WHERE campaign_id IS NOT NULL AND kind = 'order' AND NOT is_use_returned GROUP BY provider_id, campaign_id) n
  WHERE c.provider_id = n.provider_id AND c.id = n.campaign_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- A place that is taken again takes the use again.
CREATE FUNCTION return_uses_of_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE orders o SET is_use_returned = is_order_void(o.provider_id, o.id)
  FROM (SELECT DISTINCT provider_id, booking_id FROM added) a
    JOIN bookings b ON b.provider_id = a.provider_id AND b.id = a.booking_id
  WHERE o.provider_id = b.provider_id AND o.id = b.order_id AND o.campaign_id IS NOT NULL
    AND o.is_use_returned <> is_order_void(o.provider_id, o.id);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION return_uses_of_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE orders o SET is_use_returned = is_order_void(o.provider_id, o.id)
  FROM (SELECT DISTINCT n.provider_id, n.booking_id FROM added n
      JOIN gone g ON g.provider_id = n.provider_id AND g.id = n.id
      WHERE (n.status_id IN (4, 8)) <> (g.status_id IN (4, 8))) a
    JOIN bookings b ON b.provider_id = a.provider_id AND b.id = a.booking_id
  WHERE o.provider_id = b.provider_id AND o.id = b.order_id AND o.campaign_id IS NOT NULL
    AND o.is_use_returned <> is_order_void(o.provider_id, o.id);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER participants_return_uses_of_added AFTER INSERT ON participants REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION return_uses_of_added();
--> statement-breakpoint
CREATE TRIGGER participants_return_uses_of_changed AFTER UPDATE ON participants
  REFERENCING NEW TABLE AS added OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION return_uses_of_changed();
--> statement-breakpoint
UPDATE orders SET is_use_returned = true WHERE campaign_id IS NOT NULL AND kind = 'order' AND is_order_void(provider_id, id);
