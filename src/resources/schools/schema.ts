import { Type, type Static } from '@sinclair/typebox';
import { formatTimestamp } from '../../core/timestamps.ts';
import * as t from '../../core/schema/types.ts';
import type { providers } from '../../database/tables/providers.ts';

const text = Type.String();
const Address = t.NamedObject('SchoolAddress', { address: text, zip: text, city: text });

/** The older interface has no timestamps. */
export const LegacySchool = t.NamedObject('LegacySchool', {
  title: text,
  active: Type.Boolean(),
  reference: t.Nullable(text),
  org_nr: text,
  phone: text,
  email_admin: text,
  email_booking: text,
  email_more_info: text,
  post_address: Address,
  visit_address: Address,
  web_address: text,
  text_tagline: text,
  text_description: text,
});

export type School = Static<typeof School>;
export const School = t.NamedObject('School', {
  ...LegacySchool.properties,
  created_at: t.DateTime,
  updated_at: t.DateTime,
});

export const toSchool = (row: typeof providers.$inferSelect): School => ({
  title: row.title,
  active: row.isActive,
  reference: row.reference,
  org_nr: row.orgNr,
  phone: row.phone,
  email_admin: row.emailAdmin,
  email_booking: row.emailBooking,
  email_more_info: row.emailMoreInfo,
  post_address: { address: row.postAddress, zip: row.postZip, city: row.postCity },
  visit_address: { address: row.visitAddress, zip: row.visitZip, city: row.visitCity },
  web_address: row.webAddress,
  text_tagline: row.textTagline,
  text_description: row.textDescription,
  created_at: formatTimestamp(row.createdAt),
  updated_at: formatTimestamp(row.updatedAt),
});

const { Optional } = Type;

const example = {
  title: 'Fjord School',
  org_nr: '987654321',
  phone: '+47 55 00 00 00',
  email_admin: 'admin@fjordschool.example',
  post_address: 'Strandgaten 1',
  post_zip: '5004',
  post_city: 'Bergen',
};

/** PUT /v2/schools, and POST {legacy_base_url}/schools for a sub-school. An optional field sent empty is cleared. */
export type SchoolBody = Static<typeof SchoolBody>;
export const SchoolBody = t.NamedObject(
  'SchoolInput',
  {
    title: t.Title(),
    org_nr: t.LongLine(),
    phone: t.LongLine(),
    email_admin: t.Email(),
    post_address: t.Line(),
    post_zip: t.Line(),
    post_city: t.Line(),
    active: Optional(t.Flag({ default: true, description: 'true unless sent, also in an update' })),
    reference: Optional(t.Nullable(t.Line())),
    email: Optional(t.Nullable(t.Email())),
    email_booking: Optional(t.Nullable(t.Email())),
    email_more_info: Optional(t.Nullable(t.Email())),
    visit_address: Optional(t.Nullable(t.Line())),
    visit_zip: Optional(t.Nullable(t.Line())),
    visit_city: Optional(t.Nullable(t.Line())),
    web_address: Optional(t.Nullable(t.Line({ maxLength: 2_000 }))),
    text_tagline: Optional(t.Nullable(t.Html())),
    text_description: Optional(t.Nullable(t.Html())),
  },
  { examples: [example] },
);
