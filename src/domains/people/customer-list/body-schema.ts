import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import { customers } from '../../../database/tables/customers.ts';
import { customerStatuses, customerTypes } from '../customers/schema.ts';

const { Optional } = Type;

const customerNumber = t.Line({ description: 'Customer number' });
const sellerId = { ...t.Id, description: 'An id from /v2/app-users' };

/** POST /v2/customers. */
export type CustomerBody = Static<typeof CustomerBody>;
export const CustomerBody = t.NamedObject(
  'CustomerCreate',
  {
    title: t.stored(customers.title, { ...t.Title(), description: 'Name of the company or person' }),
    department: t.storedLine(customers.department, 'Department of the company'),
    type: t.stored(customers.type, t.withDefault(codes.Code('CustomerTypeId', customerTypes), 1)),
    orgnr: t.storedLongLine(customers.orgnr, 'Organization number'),
    email: t.stored(customers.email, Optional({ ...t.Email(), description: 'General e-mail address' })),
    phone: t.storedLongLine(customers.phone, 'Phone number'),
    fax: t.storedLongLine(customers.fax, 'Fax number'),
    web_address: t.stored(customers.webaddress, Optional({ ...t.Url(), description: 'Website' })),
    customer_reference_id: t.stored(customers.customerReferenceId, Optional(customerNumber)),
    country: t.stored(customers.country, t.withDefault(codes.CountryCode, 'NO')),
    post_address_1: t.storedLine(customers.postAddress, 'Postal address, first line'),
    post_address_2: t.storedLine(customers.postAddress2, 'Second line'),
    post_address_3: t.storedLine(customers.postAddress3, 'Third line'),
    post_zipcode: t.storedLine(customers.postZipcode, 'Postal code of the postal address'),
    post_city: t.storedLine(customers.postCity, 'City of the postal address'),
    invoice_address_1: t.storedLine(customers.invoiceAddress, 'Invoice address, first line'),
    invoice_address_2: t.storedLine(customers.invoiceAddress2, 'Second line'),
    invoice_address_3: t.storedLine(customers.invoiceAddress3, 'Third line'),
    invoice_zipcode: t.storedLine(customers.invoiceZipcode, 'Invoice postal code'),
    invoice_city: t.storedLine(customers.invoiceCity, 'Invoice city'),
    invoice_customer_reference: t.storedLine(customers.customerReference, 'Reference on each invoice'),
    invoice_due_days: t.stored(customers.duedateDays, {
      ...t.withDefault(t.Count(), 0),
      description: 'Days until an invoice is due',
    }),
    invoice_email: t.stored(
      customers.invoiceEmail,
      Optional({ ...t.Email(), description: 'E-mail address for invoices' }),
    ),
    office_address_1: t.storedLine(customers.visitAddress, 'Office address, first line'),
    office_address_2: t.storedLine(customers.visitAddress2, 'Second line'),
    office_address_3: t.storedLine(customers.visitAddress3, 'Third line'),
    office_zipcode: t.storedLine(customers.visitZipcode, 'Office postal code'),
    office_city: t.storedLine(customers.visitCity, 'Office city'),
    seller_id: t.stored(customers.sellerId, Optional(sellerId), 'admin_user'),
    note: t.stored(customers.note, Optional({ ...t.Note(), description: 'Internal note' })),
    status: t.stored(customers.status, t.withDefault(codes.Code('CustomerStatusId', customerStatuses), 1)),
  },
  { examples: [{ title: 'Fjord Energy AS', orgnr: '312345676', email: 'post@fjordenergy.example' }] },
);

/** PUT /v2/customers/:id. */
export type CustomerChange = Static<typeof CustomerChange>;
export const CustomerChange = t.NamedObject(
  'CustomerUpdate',
  t.partialUpdate({
    ...CustomerBody.properties,
    web_address: t.stored(
      customers.webaddress,
      Optional(t.Line({ maxLength: 2_000, description: 'Website: a URL, or the stored text' })),
    ),
  }),
  { examples: [{ email: 'invoices@fjordenergy.example', invoice_due_days: 14 }] },
);

/** False for a new website that is no URL; earlier versions stored any text. */
export const isWebAddress = ({ web_address: text }: CustomerChange, stored: string | null) =>
  !text || text === stored || new RegExp(t.Url().pattern!).test(text);
