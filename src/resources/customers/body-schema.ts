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
  t.describeFields(
    {
      title: t.stored(customers.title, t.Title()),
      department: t.stored(customers.department, Optional(t.Line())),
      type: t.stored(customers.type, t.withDefault(codes.Code('CustomerTypeId', customerTypes), 1)),
      orgnr: t.stored(customers.orgnr, Optional(t.LongLine())),
      email: t.stored(customers.email, Optional(t.Email())),
      phone: t.stored(customers.phone, Optional(t.LongLine())),
      fax: t.stored(customers.fax, Optional(t.LongLine())),
      web_address: t.stored(customers.webaddress, Optional(t.Line({ maxLength: 2_000 }))),
      customer_reference_id: t.stored(customers.customerReferenceId, Optional(customerNumber)),
      country: t.stored(customers.country, t.withDefault(codes.CountryCode, 'NO')),
      post_address_1: t.stored(customers.postAddress, Optional(t.Line())),
      post_address_2: t.stored(customers.postAddress2, Optional(t.Line())),
      post_address_3: t.stored(customers.postAddress3, Optional(t.Line())),
      post_zipcode: t.stored(customers.postZipcode, Optional(t.Line())),
      post_city: t.stored(customers.postCity, Optional(t.Line())),
      invoice_address_1: t.stored(customers.invoiceAddress, Optional(t.Line())),
      invoice_address_2: t.stored(customers.invoiceAddress2, Optional(t.Line())),
      invoice_address_3: t.stored(customers.invoiceAddress3, Optional(t.Line())),
      invoice_zipcode: t.stored(customers.invoiceZipcode, Optional(t.Line())),
      invoice_city: t.stored(customers.invoiceCity, Optional(t.Line())),
      invoice_customer_reference: t.stored(customers.customerReference, Optional(t.Line())),
      invoice_due_days: t.stored(customers.duedateDays, t.withDefault(t.Count(), 0)),
      invoice_email: t.stored(customers.invoiceEmail, Optional(t.Email())),
      office_address_1: t.stored(customers.visitAddress, Optional(t.Line())),
      office_address_2: t.stored(customers.visitAddress2, Optional(t.Line())),
      office_address_3: t.stored(customers.visitAddress3, Optional(t.Line())),
      office_zipcode: t.stored(customers.visitZipcode, Optional(t.Line())),
      office_city: t.stored(customers.visitCity, Optional(t.Line())),
      seller_id: t.stored(customers.sellerId, Optional(sellerId), 'admin_user'),
      note: t.stored(customers.note, Optional(t.Note())),
      status: t.stored(customers.status, t.withDefault(codes.Code('CustomerStatusId', customerStatuses), 1)),
    },
    {
      title: 'Name of the company or person',
      department: 'Department of the company',
      orgnr: 'Organization number',
      email: 'General e-mail address',
      phone: 'Phone number',
      fax: 'Fax number',
      web_address: 'Website',
      post_address_1: 'Postal address, first line',
      post_address_2: 'Second line',
      post_address_3: 'Third line',
      post_zipcode: 'Postal code of the postal address',
      post_city: 'City of the postal address',
      invoice_address_1: 'Invoice address, first line',
      invoice_address_2: 'Second line',
      invoice_address_3: 'Third line',
      invoice_zipcode: 'Invoice postal code',
      invoice_city: 'Invoice city',
      invoice_customer_reference: 'Reference on each invoice',
      invoice_due_days: 'Days until an invoice is due',
      invoice_email: 'E-mail address for invoices',
      office_address_1: 'Office address, first line',
      office_address_2: 'Second line',
      office_address_3: 'Third line',
      office_zipcode: 'Office postal code',
      office_city: 'Office city',
      note: 'Internal note',
    },
  ),
  { examples: [{ title: 'Fjord Energy AS', orgnr: '912345678', email: 'post@fjordenergy.example' }] },
);

/** PUT /v2/customers/:id. */
export type CustomerChange = Static<typeof CustomerChange>;
export const CustomerChange = t.NamedObject('CustomerUpdate', t.partialUpdate(CustomerBody.properties), {
  examples: [{ email: 'invoices@fjordenergy.example', invoice_due_days: 14 }],
});
