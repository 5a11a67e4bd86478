-- True for an order of which no place and no amount is left, nor of the differences of its booking.
CREATE OR REPLACE FUNCTION is_order_void(provider bigint, of_order bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT bool_and(p.status_id IN (4, 8)) FROM bookings b
      JOIN participants p ON p.provider_id = b.provider_id AND p.booking_id = b.id
      WHERE b.provider_id = provider AND b.order_id = of_order), false)
    AND NOT EXISTS (SELECT FROM orders o
      WHERE o.provider_id = provider AND (o.id = of_order OR o.first_order_id = of_order AND o.kind = 'difference')
        AND o.total_before_discounts - o.total_discounts + o.total_vat
          + (SELECT coalesce(sum(c.total_before_discounts - c.total_discounts + c.total_vat), 0) FROM orders c
            WHERE c.provider_id = provider AND c.first_order_id = o.id AND c.kind = 'credit') > 0)
$$;
--> statement-breakpoint
-- A credit or a difference changes what is left of the order of the booking.
CREATE OR REPLACE FUNCTION orders_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE campaigns c SET uses = c.uses + n.uses
  FROM (SELECT provider_id, campaign_id, count(*) AS uses FROM added
    WHERE campaign_id IS NOT NULL AND kind = 'order' AND NOT is_use_returned GROUP BY provider_id, campaign_id) n
  WHERE c.provider_id = n.provider_id AND c.id = n.campaign_id;
  UPDATE orders o SET is_use_returned = is_order_void(o.provider_id, o.id)
  FROM (SELECT DISTINCT f.provider_id, coalesce(f.first_order_id, f.id) AS id FROM added a
    JOIN orders f ON f.provider_id = a.provider_id AND f.id = a.first_order_id) c
  WHERE o.provider_id = c.provider_id AND o.id = c.id AND o.campaign_id IS NOT NULL
    AND o.is_use_returned <> is_order_void(o.provider_id, o.id);
  RETURN NULL;
END $$;
--> statement-breakpoint
UPDATE orders SET is_use_returned = false WHERE is_use_returned AND NOT is_order_void(provider_id, id);
