import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../core/schema/codes.ts';
import { t } from '../../core/schema/types.ts';
import { customers } from '../../database/tables/customers.ts';
import { customerStatuses, customerTypes } from './schema.ts';

const { Optional } = Type;

const customerNumber = t.Line({ description: 'Customer number' });
const sellerId = { ...t.Id, description: 'An id from /v2/app-users' };

/** POST /v2/customers. */
export type CustomerBody = Static<typeof CustomerBody>;
export const CustomerBody = t.NamedObject(
  'CustomerCreate',
  {
    title: t.stored(customers.title, { ...t.Title(), description: 'Name of the company or person' }),
    department: t.stored(customers.department, Optional({ ...t.Line(), description: 'Department of the company' })),
    type: t.stored(customers.type, t.withDefault(codes.Code('CustomerTypeId', customerTypes), 1)),
    orgnr: t.stored(customers.orgnr, Optional({ ...t.LongLine(), description: 'Organization number' })),
    email: t.stored(customers.email, Optional({ ...t.Email(), description: 'General e-mail address' })),
    phone: t.stored(customers.phone, Optional({ ...t.LongLine(), description: 'Phone number' })),
    fax: t.stored(customers.fax, Optional({ ...t.LongLine(), description: 'Fax number' })),
    web_address: t.stored(customers.webaddress, Optional({ ...t.Line({ maxLength: 2_000 }), description: 'Website' })),
    customer_reference_id: t.stored(customers.customerReferenceId, Optional(customerNumber)),
    country: t.stored(customers.country, t.withDefault(codes.CountryCode, 'NO')),
    post_address_1: t.stored(
      customers.postAddress,
      Optional({ ...t.Line(), description: 'Postal address, first line' }),
    ),
    post_address_2: t.stored(customers.postAddress2, Optional({ ...t.Line(), description: 'Second line' })),
    post_address_3: t.stored(customers.postAddress3, Optional({ ...t.Line(), description: 'Third line' })),
    post_zipcode: t.stored(
      customers.postZipcode,
      Optional({ ...t.Line(), description: 'Postal code of the postal address' }),
    ),
    post_city: t.stored(customers.postCity, Optional({ ...t.Line(), description: 'City of the postal address' })),
    invoice_address_1: t.stored(
      customers.invoiceAddress,
      Optional({ ...t.Line(), description: 'Invoice address, first line' }),
    ),
    invoice_address_2: t.stored(customers.invoiceAddress2, Optional({ ...t.Line(), description: 'Second line' })),
    invoice_address_3: t.stored(customers.invoiceAddress3, Optional({ ...t.Line(), description: 'Third line' })),
    invoice_zipcode: t.stored(customers.invoiceZipcode, Optional({ ...t.Line(), description: 'Invoice postal code' })),
    invoice_city: t.stored(customers.invoiceCity, Optional({ ...t.Line(), description: 'Invoice city' })),
    invoice_customer_reference: t.stored(
      customers.customerReference,
      Optional({ ...t.Line(), description: 'Reference on each invoice' }),
    ),
    invoice_due_days: t.stored(customers.duedateDays, {
      ...t.withDefault(t.Count(), 0),
      description: 'Days until an invoice is due',
    }),
    invoice_email: t.stored(
      customers.invoiceEmail,
      Optional({ ...t.Email(), description: 'E-mail address for invoices' }),
    ),
    office_address_1: t.stored(
      customers.visitAddress,
      Optional({ ...t.Line(), description: 'Office address, first line' }),
    ),
    office_address_2: t.stored(customers.visitAddress2, Optional({ ...t.Line(), description: 'Second line' })),
    office_address_3: t.stored(customers.visitAddress3, Optional({ ...t.Line(), description: 'Third line' })),
    office_zipcode: t.stored(customers.visitZipcode, Optional({ ...t.Line(), description: 'Office postal code' })),
    office_city: t.stored(customers.visitCity, Optional({ ...t.Line(), description: 'Office city' })),
    seller_id: t.stored(customers.sellerId, Optional(sellerId), 'admin_user'),
    note: t.stored(customers.note, Optional({ ...t.Note(), description: 'Internal note' })),
    status: t.stored(customers.status, t.withDefault(codes.Code('CustomerStatusId', customerStatuses), 1)),
  },
  { examples: [{ title: 'Fjord Energy AS', orgnr: '912345678', email: 'post@fjordenergy.example' }] },
);

/** PUT /v2/customers/:id. */
export type CustomerChange = Static<typeof CustomerChange>;
export const CustomerChange = t.NamedObject('CustomerUpdate', t.partialUpdate(CustomerBody.properties), {
  examples: [{ email: 'invoices@fjordenergy.example', invoice_due_days: 14 }],
});
