-- A full join takes time in proportion to its rows: the loop of a plan for few rows compared 1,000 of them with each other.
CREATE OR REPLACE FUNCTION return_uses_of_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE orders o SET is_use_returned = is_order_void(o.provider_id, o.id)
  FROM (SELECT DISTINCT n.provider_id, n.booking_id
      FROM added n FULL JOIN gone g ON g.provider_id = n.provider_id AND g.id = n.id
      WHERE (n.status_id IN (4, 8)) IS DISTINCT FROM (g.status_id IN (4, 8))) a
    JOIN bookings b ON b.provider_id = a.provider_id AND b.id = a.booking_id
  WHERE o.provider_id = b.provider_id AND o.id = b.order_id AND o.campaign_id IS NOT NULL
    AND o.is_use_returned <> is_order_void(o.provider_id, o.id);
  RETURN NULL;
END $$;
