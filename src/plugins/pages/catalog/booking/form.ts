import type { FastifyRequest } from 'fastify';
import { randomBytes } from 'node:crypto';
import { hasLink } from '../../../../core/text.ts';
import { catalogFields, type CatalogField, type FieldUse } from '../../../../database/tables/providers.ts';
import { readField } from '../../forms.ts';
import { defaultFields } from '../../../../domains/school/catalog-settings/schema.ts';
import type { CatalogDate } from '../dates/model.ts';
import { formLimits } from './limits.ts';
import { itemAt } from '../../../../core/errors.ts';

export const personFields = ['firstname', 'lastname', 'email', ...catalogFields] as const;
export type PersonField = (typeof personFields)[number];
type Person = Record<PersonField | 'product', string>;

export const payerFields = [
  ...(['booker_name', 'booker_email', 'booker_phone', 'company', 'company_number', 'gln_number'] as const),
  ...(['invoice_reference', 'invoice_address_1', 'invoice_address_2', 'invoice_address_3'] as const),
  ...(['invoice_zipcode', 'invoice_city', 'invoice_email', 'campaign_code', 'voucher_code'] as const),
] as const;
export type PayerField = (typeof payerFields)[number];
export const companyFields: readonly PayerField[] = ['company', 'company_number', 'gln_number'];

/** The `maxlength` of fields. The largest body fits: a unit takes up to 9 bytes, in an e-mail address up to 3. */
export const maxLengths: Partial<Record<PersonField | PayerField, number>> = {
  ...{ firstname: 45, lastname: 45, email: 120, phone: 20, position: 30, comment: 90 },
  ...{ booker_name: 91, booker_email: 120, booker_phone: 20, company: 40, company_number: 20, gln_number: 20 },
  ...{ invoice_reference: 60, invoice_address_1: 60, invoice_address_2: 60, invoice_address_3: 60 },
  ...{ invoice_zipcode: 12, invoice_city: 40, invoice_email: 120, campaign_code: 40, voucher_code: 40 },
};

/** The form as it was typed. */
export type BookingForm = {
  key: string;
  /** Version of the price that was shown, and of what it depends on; empty if none was. */
  version: string;
  /** Marks of values that the visitor has been warned of. */
  kept: string;
  persons: Person[];
  isCompany: boolean;
  payer: Record<PayerField, string>;
};

/** The time in seconds (4 bytes), and 96 random bits. */
export function newKey() {
  const bytes = randomBytes(16);
  bytes.writeUInt32BE(Math.floor(Date.now() / 1_000));
  return bytes.toString('base64url');
}
export const isKey = (text: string) => /^[\w-]{22}$/.test(text);

/** False once the record that a key has booked may be deleted; the clocks of servers may differ by an hour. */
export function isCurrent(key: string) {
  const age = Date.now() / 1_000 - Buffer.from(key, 'base64url').readUInt32BE();
  return age > -3_600 && age < 23 * 3_600;
}

/** The name of a participant's field; `n` counts from 0. */
export const toName = (field: PersonField | 'product', n: number) => `${field}_${n + 1}`;

export function readForm(request: FastifyRequest): BookingForm {
  const read = (name: string) => readField(request, name) ?? '';
  const key = read('key');
  const persons: Person[] = [];
  while (persons.length <= formLimits.persons && isSent(request, persons.length))
    persons.push(readPerson(read, persons.length));
  return {
    key: isKey(key) ? key : newKey(),
    // Without its key a form was not shown.
    version: isKey(key) ? read('version') : '',
    kept: read('kept'),
    persons: persons.length > 0 ? persons : [emptyPerson()],
    isCompany: read('kind') === 'company',
    payer: Object.fromEntries(payerFields.map((name) => [name, read(name)])) as BookingForm['payer'],
  };
}

const isSent = (request: FastifyRequest, n: number) =>
  personFields.some((field) => readField(request, toName(field, n)) !== undefined);

const readPerson = (read: (name: string) => string, n: number) =>
  Object.fromEntries(
    [...personFields, 'product' as const].map((field) => {
      const text = read(toName(field, n));
      return [field, field === 'date_of_birth' ? toDay(text) : text];
    }),
  ) as Person;

/** `17.05.1990` as `1990-05-17`, for browsers that have no field for days. */
const toDay = (text: string) =>
  text.replace(/^\s*(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\s*$/, (_all, day: string, month: string, year: string) =>
    [year, month.padStart(2, '0'), day.padStart(2, '0')].join('-'),
  );

export const emptyPerson = () => readPerson(() => '', 0);

/** How a school uses each field of a participant. */
export type FieldUses = Record<CatalogField, FieldUse>;
export const toFieldUses = (fields: Partial<FieldUses>): FieldUses => ({ ...defaultFields, ...fields });

const orNone = (text: string) => (text.trim() === '' ? undefined : text);

/** The first participant pays unless the form names somebody. */
export function toBooker({ persons, payer: { booker_name, booker_email, booker_phone } }: BookingForm) {
  const first = itemAt(persons);
  const isNamed = [booker_name, booker_email].some((text) => text.trim() !== '');
  const own = { name: `${first.firstname} ${first.lastname}`, email: first.email, phone: first.phone };
  return {
    booker_name: orNone(isNamed ? booker_name : own.name),
    booker_email: orNone(isNamed ? booker_email : own.email),
    booker_phone: orNone(booker_phone) ?? (isNamed ? undefined : orNone(own.phone)),
  };
}

export type BookingFields = ReturnType<typeof toBookingFields>;

/** The fields of `POST /v2/booking` for the form. */
export function toBookingFields(form: BookingForm, date: CatalogDate, uses: FieldUses, language: string) {
  const { persons, payer, isCompany } = form;
  const toProducts = ({ product }: Person) => {
    const { id, is_main_product } = date.products.find((one) => String(one.id) === product) ?? date.products[0] ?? {};
    // The main product is that of a booking without one.
    return id === undefined || is_main_product ? {} : { products: [id] };
  };
  const isUsed = (field: PersonField) => !(field in uses) || uses[field as CatalogField] !== 'off';
  return {
    coursedate_id: date.id,
    payment_method: 'invoice',
    language,
    config: { waiting_list_when_full: true },
    ...Object.fromEntries(
      payerFields
        .filter((name) => isCompany || !companyFields.includes(name))
        .map((name) => [name, orNone(payer[name])]),
    ),
    ...toBooker(form),
    participants: persons.map((person) => ({
      ...Object.fromEntries(personFields.filter(isUsed).map((field) => [field, orNone(person[field])])),
      ...toProducts(person),
    })),
  };
}

/** Paths of names that could be a link in a mail. */
export const listLinks = ({ persons, payer }: BookingForm): string[] => [
  ...persons.flatMap((person, n) =>
    (['firstname', 'lastname'] as const)
      .filter((field) => hasLink(person[field]))
      .map((field) => `participants[${n}].${field}`),
  ),
  ...(hasLink(payer.booker_name) ? ['booker_name'] : []),
];

/** Paths of fields that the form needs beyond `POST /v2/booking`. */
export function listMissing({ persons, payer, isCompany }: BookingForm, uses: FieldUses): string[] {
  const isEmpty = (text: string) => text.trim() === '';
  const isNamed = !isEmpty(payer.booker_name) || !isEmpty(payer.booker_email);
  const ofPayer = (['booker_name', 'booker_email'] as const).filter((name) => isNamed && isEmpty(payer[name]));
  const ofPersons = persons.flatMap((person, n) =>
    catalogFields
      .filter((field) => uses[field] === 'required' && isEmpty(person[field]))
      .map((field) => `participants[${n}].${field}`),
  );
  return [...ofPersons, ...ofPayer, ...(isCompany && isEmpty(payer.company) ? ['company'] : [])];
}
