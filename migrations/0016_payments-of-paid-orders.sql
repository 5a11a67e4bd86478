-- What vouchers did not pay of an order that is paid.
INSERT INTO payments (provider_id, order_id, amount, method, paid_at, created_at, updated_at)
SELECT o.provider_id, o.id, due.amount, 'other', o.created_at, o.created_at, o.created_at
FROM orders o
  CROSS JOIN LATERAL (
    SELECT o.total_before_discounts - o.total_discounts + o.total_vat - coalesce((
      SELECT sum(r.amount) FROM voucher_redemptions r WHERE r.provider_id = o.provider_id AND r.order_id = o.id
    ), 0) AS amount
  ) due
WHERE o.is_paid AND due.amount > 0
ORDER BY o.provider_id, o.id;
--> statement-breakpoint
CREATE TRIGGER payments_record_created AFTER INSERT ON payments REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION record_created('payment');
--> statement-breakpoint
CREATE TRIGGER payments_record_updated AFTER UPDATE ON payments REFERENCING NEW TABLE AS added OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_updated('payment');
--> statement-breakpoint
CREATE TRIGGER payments_record_deleted AFTER DELETE ON payments REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION record_deleted('payment');
