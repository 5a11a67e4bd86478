import { Type, type Static } from '@sinclair/typebox';
import { dryRun } from '../../../core/schema/dry-run.ts';
import { t } from '../../../core/schema/types.ts';
import { orders } from '../../../database/tables/orders.ts';

/** PUT /v2/orders/:id. */
export type OrderChange = Static<typeof OrderChange>;
export const OrderChange = t.NamedObject(
  'OrderUpdate',
  t.partialUpdate({
    is_paid: Type.Optional(
      Type.Boolean({ description: 'true: adds a payment of what is due; false: reverses the payments' }),
    ),
    paid_at: Type.Optional(t.StoredMoment({ description: 'With `is_paid` true: of the payment; now unless sent' })),
    your_reference: t.storedLine(orders.yourReference, 'Reference on the invoice'),
    invoice_address: t.storedLine(orders.invoiceAddress, 'Invoice address, first line'),
    invoice_address_2: t.storedLine(orders.invoiceAddress2, 'Second line'),
    invoice_address_3: t.storedLine(orders.invoiceAddress3, 'Third line'),
    invoice_zipcode: t.storedLine(orders.invoiceZipcode, 'Postal code'),
    invoice_city: t.storedLine(orders.invoiceCity, 'City'),
    invoice_email: t.stored(
      orders.invoiceEmail,
      Type.Optional(t.Email({ description: 'E-mail address for the invoice' })),
    ),
  }),
  { examples: [{ is_paid: true, your_reference: 'Purchase 4711' }] },
);

/** POST /v2/orders/:id/export. */
export const OrderExportBody = t.NamedObject(
  'OrderExportCreate',
  { dry_run: dryRun('true: nothing changes, and the response is the order as it would be') },
  { examples: [{ dry_run: true }] },
);
