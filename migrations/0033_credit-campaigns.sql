-- A credit has the campaign of its order; those from before had none.
UPDATE orders c SET campaign_id = f.campaign_id
FROM orders f
WHERE c.kind = 'credit' AND c.campaign_id IS NULL
  AND f.provider_id = c.provider_id AND f.id = c.first_order_id AND f.campaign_id IS NOT NULL;
