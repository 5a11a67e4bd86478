import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../core/schema/codes.ts';
import * as t from '../../core/schema/types.ts';
import { customerStatuses, customerTypes } from './schema.ts';

const { Optional } = Type;

/** POST /v2/customers. */
export type CustomerBody = Static<typeof CustomerBody>;
export const CustomerBody = t.NamedObject(
  'CustomerCreate',
  t.describeFields(
    {
      title: t.Title(),
      department: Optional(t.Line()),
      type: t.withDefault(codes.Code('CustomerTypeId', customerTypes), 1),
      orgnr: Optional(t.LongLine()),
      email: Optional(t.Email()),
      phone: Optional(t.LongLine()),
      fax: Optional(t.LongLine()),
      web_address: Optional(t.Line({ maxLength: 2_000 })),
      customer_reference_id: Optional(t.Line({ description: 'Customer number' })),
      country: t.withDefault(codes.CountryCode, 'NO'),
      post_address_1: Optional(t.Line()),
      post_address_2: Optional(t.Line()),
      post_address_3: Optional(t.Line()),
      post_zipcode: Optional(t.Line()),
      post_city: Optional(t.Line()),
      invoice_address_1: Optional(t.Line()),
      invoice_address_2: Optional(t.Line()),
      invoice_address_3: Optional(t.Line()),
      invoice_zipcode: Optional(t.Line()),
      invoice_city: Optional(t.Line()),
      invoice_customer_reference: Optional(t.Line()),
      invoice_due_days: t.withDefault(t.Count(), 0),
      invoice_email: Optional(t.Email()),
      office_address_1: Optional(t.Line()),
      office_address_2: Optional(t.Line()),
      office_address_3: Optional(t.Line()),
      office_zipcode: Optional(t.Line()),
      office_city: Optional(t.Line()),
      seller_id: Optional({ ...t.Id, description: 'An id from /v2/app-users' }),
      note: Optional(t.Note()),
      status: t.withDefault(codes.Code('CustomerStatusId', customerStatuses), 1),
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
