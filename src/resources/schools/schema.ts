import { Type, type Static } from '@sinclair/typebox';
import { dateTime } from '../../lib/timestamps.ts';
import { DateTime, Email, Flag, Html, Line, LongLine, Nullable, Title } from '../../schema/types.ts';
import type { providers } from '../../database/tables/providers.ts';

const text = Type.String();
const Address = Type.Object({ address: text, zip: text, city: text });

/** The older interface shows a school without its time stamps. */
export const LegacySchool = Type.Object({
  title: text,
  active: Type.Boolean(),
  reference: Nullable(text),
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
export const School = Type.Object({ ...LegacySchool.properties, created_at: DateTime, updated_at: DateTime });

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
  created_at: dateTime(row.createdAt),
  updated_at: dateTime(row.updatedAt),
});

const { Optional } = Type;

/** What the page to try it begins with. */
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
export const SchoolBody = Type.Object(
  {
    title: Title(),
    org_nr: LongLine(),
    phone: LongLine(),
    email_admin: Email(),
    post_address: Line(),
    post_zip: Line(),
    post_city: Line(),
    active: Optional(Flag({ default: true, description: 'Not sent is true, on every update' })),
    reference: Optional(Nullable(Line())),
    email: Optional(Nullable(Email())),
    email_booking: Optional(Nullable(Email())),
    email_more_info: Optional(Nullable(Email())),
    visit_address: Optional(Nullable(Line())),
    visit_zip: Optional(Nullable(Line())),
    visit_city: Optional(Nullable(Line())),
    web_address: Optional(Nullable(Line({ maxLength: 2_000 }))),
    text_tagline: Optional(Nullable(Html())),
    text_description: Optional(Nullable(Html())),
  },
  { examples: [example] },
);
