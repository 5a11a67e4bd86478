import { bookings, orderLines, orders, payments, voucherRedemptions } from '../../../database/tables/orders.ts';
import { entry, isOfOrder } from '../../../lists/personal-data.ts';

const voucherPart = `(select jsonb_object_agg(key, value) from jsonb_each(custom_properties)
  where key in ('voucher_code', 'voucher_amount'))`;
const ofInvoice = `customer_id title_detailed currency is_paid payment_method your_reference booker gln_number
  invoice_address invoice_address_2 invoice_address_3 invoice_zipcode invoice_city total_before_discounts
  total_discounts total_vat invoiced_at exported_at kind first_order_id credit_applied`;

export const ofOrders = {
  orders: entry(orders, 'id = any(:orders::bigint[])', {
    ...{ erase: { customProperties: voucherPart, keptUntil: null, keptUserId: null }, of: 'private' },
    show: ['ExportedOrder', { without: 'isUseReturned', ofOrders: 'all' }],
    invoice: { columns: ofInvoice },
  }),
  order_lines: entry(orderLines, isOfOrder, { show: ['ExportedOrderLine', { ofOrders: 'own' }], invoice: {} }),
  bookings: entry(bookings, isOfOrder, {
    ...{ erase: {}, of: 'unshared', show: ['ExportedBooking', { ofOrders: 'all' }] },
  }),
  payments: entry(payments, isOfOrder, {
    ...{ erase: {}, of: 'unneeded', show: ['ExportedPayment', { ofOrders: 'own' }], invoice: {} },
  }),
  voucher_redemptions: entry(voucherRedemptions, isOfOrder, {
    ...{ show: ['ExportedRedemption', { order: 'orderId', ofOrders: 'own' }], invoice: {} },
  }),
};
