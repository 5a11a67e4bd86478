/** Payments and refunds of the order `$2`, or of the one that this credit credits, and of its credits; the latest first. */
export const findRefundable = {
  name: 'find_refundable_payments',
  text: `select p.method, p.amount
    from (select case kind when 'credit' then first_order_id else id end as id from orders
        where provider_id = $1 and id = $2) f
      join orders o on o.provider_id = $1 and (o.id = f.id or o.first_order_id = f.id and o.kind = 'credit')
      join payments p on p.provider_id = $1 and p.order_id = o.id and p.reversed_at is null
    order by p.paid_at desc, p.id desc`,
};
