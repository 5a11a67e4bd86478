import { Type, type Static } from '@sinclair/typebox';
import type { Ctx } from '../../../database/context.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import type { customers } from '../../../database/tables/customers.ts';
import { countries } from '../../../core/schema/codes.ts';
import { AppUser } from '../../school/admin-users/schema.ts';

const text = t.Nullable(Type.String());

export const Address = t.NamedObject(
  'Address',
  t.member.personal.all({
    address: text,
    address_2: text,
    address_3: text,
    zipcode: text,
    city: text,
  }),
);

/** Inputs of an address and where a GET shows them. */
export const addressForms = (input: string, read = input) => ({
  [`${input}_address_1`]: [`${read}_address.address`],
  [`${input}_address_2`]: [`${read}_address.address_2`],
  [`${input}_address_3`]: [`${read}_address.address_3`],
  [`${input}_zipcode`]: [`${read}_address.zipcode`],
  [`${input}_city`]: [`${read}_address.city`],
});

type Text = string | null;

/** A literal, without computed names and spreads, which made the list of orders half as fast. */
export const toAddress = (
  address: Text,
  address_2: Text,
  address_3: Text,
  zipcode: Text,
  city: Text,
): Static<typeof Address> => ({ address, address_2, address_3, zipcode, city });

export const privateType = 2;
export const customerTypes = new Map([
  [1, 'Company'],
  [privateType, 'Private'],
]);
/** Not translated: the texts belong to the interface. */
export const customerStatuses = new Map([
  [1, 'Active'],
  [2, 'Deactivated'],
]);

const Country = t.NamedObject(
  'Country',
  t.member.closed.all({
    id: Type.Integer({ description: 'Number of the country in ISO 3166-1' }),
    title: Type.String(),
    code: Type.String({ description: 'ISO 3166-1 alpha-2' }),
  }),
);

export type CustomerRow = typeof customers.$inferSelect;

/** As embedded in orders, course users and participants. */
export type Customer = Static<typeof Customer>;
export const Customer = t.NamedObject('Customer', {
  ...t.member.personal.all({
    id: Type.Integer(),
    title: Type.String(),
    department: text,
    phone: text,
    fax: text,
    email: text,
    webaddress: text,
    orgnr: text,
  }),
  ...t.member.financial.all({
    invoice_email: text,
    customer_reference_id: text,
    customer_reference: text,
    note: text,
    turnover: text,
    always_use_customer_reference: Type.Integer({ description: '1: every invoice has the reference, 0: not' }),
    idStatus: codes.Code(
      'CustomerStatusText',
      new Map([...customerStatuses].map(([id, title]) => [String(id), title])),
    ),
    idParentCustomer: t.Nullable(Type.Integer()),
    invoice_method: Type.String({ description: '`electronic` unless an import has set another text, such as `email`' }),
  }),
  country: t.member.personal(Country),
  ...t.member.financial.all({
    status: t.named('CustomerStatus', t.OneOf([...customerStatuses.values()])),
    type: t.named('CustomerType', t.OneOf([...customerTypes.values()])),
    duedate_days: Type.Integer(),
  }),
  ...t.member.personal.all({
    seller: t.Nullable(AppUser),
    invoice_address: Address,
    post_address: Address,
    visit_address: Address,
    custom_properties: t.Nullable(t.CustomProperties),
  }),
  ...t.member.closed.all({ created_at: t.DateTime, updated_at: t.DateTime }),
});

export const toCustomer = (row: CustomerRow, { seller }: { seller: AppUser | null }, { language }: Ctx): Customer => ({
  id: row.id,
  title: row.title,
  department: row.department,
  phone: row.phone,
  fax: row.fax,
  email: row.email,
  webaddress: row.webaddress,
  orgnr: row.orgnr,
  invoice_email: row.invoiceEmail,
  customer_reference_id: row.customerReferenceId,
  customer_reference: row.customerReference,
  note: row.note,
  turnover: row.turnover,
  always_use_customer_reference: row.alwaysUseCustomerReference ? 1 : 0,
  idStatus: String(row.status),
  idParentCustomer: row.parentCustomerId,
  invoice_method: row.invoiceMethod,
  country: {
    id: countries.get(row.country)?.id ?? 0,
    title: countries.get(row.country)?.title[language] ?? row.country,
    code: row.country,
  },
  status: customerStatuses.get(row.status) ?? '',
  type: customerTypes.get(row.type) ?? '',
  duedate_days: row.duedateDays,
  seller,
  invoice_address: toAddress(
    row.invoiceAddress,
    row.invoiceAddress2,
    row.invoiceAddress3,
    row.invoiceZipcode,
    row.invoiceCity,
  ),
  post_address: toAddress(row.postAddress, row.postAddress2, row.postAddress3, row.postZipcode, row.postCity),
  visit_address: toAddress(row.visitAddress, row.visitAddress2, row.visitAddress3, row.visitZipcode, row.visitCity),
  custom_properties: row.customProperties,
  created_at: formatTimestamp(row.createdAt),
  updated_at: formatTimestamp(row.updatedAt),
});
