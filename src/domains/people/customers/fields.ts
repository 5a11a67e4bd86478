import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import { customers as c } from '../../../database/tables/customers.ts';
import { fieldsOf } from '../../../lists/fields.ts';
import { toKey } from '../../../lists/input-aliases.ts';
import { AppUser } from '../../school/admin-users/fields.ts';
import { Address, customerStatuses, customerTypes, toAddress } from './schema.ts';

const { Optional } = Type;
export type CustomerRow = typeof c.$inferSelect;

const { define, closed, personal, financial, written, imported } = fieldsOf<CustomerRow, { seller: AppUser | null }>();

const Country = t.NamedObject(
  'Country',
  t.member.closed.all({
    id: Type.Integer({ description: 'Number of the country in ISO 3166-1' }),
    title: Type.String(),
    code: Type.String({ description: 'ISO 3166-1 alpha-2' }),
  }),
);
const statusTexts = new Map([...customerStatuses].map(([id, title]) => [String(id), title]));

const fields = define(
  {
    id: personal(c.id),
    title: personal(c.title, t.Title({ description: 'Name of the company or person' })),
    department: personal.line(c.department, 'Department of the company'),
    type: financial(c.type, t.withDefault(codes.Code('CustomerTypeId', customerTypes), 1), {
      shown: t.named('CustomerType', t.OneOf([...customerTypes.values()])),
      read: (row) => customerTypes.get(row.type) ?? '',
      reads: [['type', toKey(customerTypes)]],
    }),
    orgnr: personal.longLine(c.orgnr, 'Organization number'),
    email: personal.email(c.email, 'General e-mail address'),
    phone: personal.longLine(c.phone, 'Phone number'),
    fax: personal.longLine(c.fax, 'Fax number'),
    web_address: written(c.webaddress, Optional(t.Url({ description: 'Website' })), { reads: ['webaddress'] }),
    webaddress: personal(c.webaddress),
    customer_reference_id: financial.line(c.customerReferenceId, 'Customer number'),
    country: personal(c.country, t.withDefault(codes.CountryCode, 'NO'), {
      shown: Country,
      reads: ['country.code'],
      read({ country: code }, _, { language }) {
        const { id = 0, title } = codes.countries.get(code) ?? {};
        return { id, title: title?.[language] ?? code, code };
      },
    }),
    post_address_1: written.line(c.postAddress, 'Postal address, first line', 'post_address.address'),
    post_address_2: written.line(c.postAddress2, 'Second line', 'post_address.address_2'),
    post_address_3: written.line(c.postAddress3, 'Third line', 'post_address.address_3'),
    post_zipcode: written.line(c.postZipcode, 'Postal code of the postal address', 'post_address.zipcode'),
    post_city: written.line(c.postCity, 'City of the postal address', 'post_address.city'),
    invoice_address_1: written.line(c.invoiceAddress, 'Invoice address, first line', 'invoice_address.address'),
    invoice_address_2: written.line(c.invoiceAddress2, 'Second line', 'invoice_address.address_2'),
    invoice_address_3: written.line(c.invoiceAddress3, 'Third line', 'invoice_address.address_3'),
    invoice_zipcode: written.line(c.invoiceZipcode, 'Invoice postal code', 'invoice_address.zipcode'),
    invoice_city: written.line(c.invoiceCity, 'Invoice city', 'invoice_address.city'),
    invoice_customer_reference: written.line(c.customerReference, 'Reference on each invoice', 'customer_reference'),
    invoice_due_days: written.count(c.duedateDays, 'Days until an invoice is due', 'duedate_days'),
    invoice_email: financial.email(c.invoiceEmail, 'E-mail address for invoices'),
    office_address_1: written.line(c.visitAddress, 'Office address, first line', 'visit_address.address'),
    office_address_2: written.line(c.visitAddress2, 'Second line', 'visit_address.address_2'),
    office_address_3: written.line(c.visitAddress3, 'Third line', 'visit_address.address_3'),
    office_zipcode: written.line(c.visitZipcode, 'Office postal code', 'visit_address.zipcode'),
    office_city: written.line(c.visitCity, 'Office city', 'visit_address.city'),
    customer_reference: financial(c.customerReference),
    note: financial.note(c.note, 'Internal note'),
    status: financial(c.status, t.withDefault(codes.Code('CustomerStatusId', customerStatuses), 1), {
      shown: t.named('CustomerStatus', t.OneOf([...customerStatuses.values()])),
      read: (row) => customerStatuses.get(row.status) ?? '',
      reads: ['idStatus', ['status', toKey(customerStatuses)]],
    }),
    seller_id: written(c.sellerId, Optional({ ...t.Id, description: 'An id from /v2/app-users' }), {
      to: 'admin_user',
      reads: ['seller.id'],
    }),
    idParentCustomer: financial(c.parentCustomerId, undefined, { to: 'customer' }),
    turnover: financial(c.turnover, undefined, { imported: true }),
    invoice_method: financial(c.invoiceMethod, undefined, {
      shown: Type.String({ description: '`electronic` unless an import has set another text, such as `email`' }),
      imported: true,
    }),
    always_use_customer_reference: financial(c.alwaysUseCustomerReference, undefined, {
      shown: Type.Integer({ description: '1: every invoice has the reference, 0: not' }),
      read: (row) => (row.alwaysUseCustomerReference ? 1 : 0),
      imported: true,
    }),
    idStatus: financial.value(codes.Code('CustomerStatusText', statusTexts), (row) => String(row.status)),
    duedate_days: financial(c.duedateDays),
    seller: personal.value(t.Nullable(AppUser), (_, { seller }) => seller),
    invoice_address: personal.value(Address, (row) =>
      toAddress(row.invoiceAddress, row.invoiceAddress2, row.invoiceAddress3, row.invoiceZipcode, row.invoiceCity),
    ),
    post_address: personal.value(Address, (row) =>
      toAddress(row.postAddress, row.postAddress2, row.postAddress3, row.postZipcode, row.postCity),
    ),
    visit_address: personal.value(Address, (row) =>
      toAddress(row.visitAddress, row.visitAddress2, row.visitAddress3, row.visitZipcode, row.visitCity),
    ),
    custom_properties: personal(c.customProperties, undefined, {
      shown: t.Nullable(t.CustomProperties),
      imported: true,
    }),
    kept_until: imported(c.keptUntil),
    created_at: closed(c.createdAt),
    updated_at: closed(c.updatedAt),
  },
  {
    answer:
      'phone fax email webaddress orgnr invoice_email customer_reference_id customer_reference note turnover ' +
      'always_use_customer_reference idStatus idParentCustomer invoice_method country status type duedate_days seller ' +
      'invoice_address post_address visit_address custom_properties created_at updated_at',
    body: 'seller_id note status',
  },
);
export const importedCustomer = fields.imported;
export const { inputAliases } = fields;

/** A customer that is embedded in orders, course users and participants. */
export type Customer = Static<typeof Customer>;
export const [Customer, toCustomer] = fields.item('Customer');

/** POST /v2/customers. */
export type CustomerBody = Static<typeof CustomerBody>;
export const CustomerBody = fields.body('CustomerCreate', {
  examples: [{ title: 'Fjord Energy AS', orgnr: '312345676', email: 'post@fjordenergy.example' }],
});

/** PUT /v2/customers/:id. */
export type CustomerChange = Static<typeof CustomerChange>;
export const CustomerChange = fields.update(
  'CustomerUpdate',
  { examples: [{ email: 'invoices@fjordenergy.example', invoice_due_days: 14 }] },
  { web_address: Optional(t.Line({ maxLength: 2_000, description: 'Website: a URL, or the stored text' })) },
);

/** False for a new website that is no URL; earlier versions stored any text. */
export const isWebAddress = ({ web_address: text }: CustomerChange, stored: string | null) =>
  !text || text === stored || new RegExp(t.Url().pattern!).test(text);
