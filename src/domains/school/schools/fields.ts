import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { providers as c } from '../../../database/tables/providers.ts';
import { fieldsOf } from '../../../lists/fields.ts';

const { Optional } = Type;
const text = Type.String();
const line = Optional(t.Nullable(t.Line()));
const email = Optional(t.Nullable(t.Email()));
const html = Optional(t.Nullable(t.Html()));

const { define, open, closed, written } = fieldsOf<typeof c.$inferSelect>();
const Address = t.NamedObject('SchoolAddress', t.member.open.all({ address: text, zip: text, city: text }));

const fields = define(
  {
    title: open(c.title, t.Title()),
    active: closed(
      c.isActive,
      Optional(Type.Boolean({ default: true, description: 'true unless sent, also in an update' })),
    ),
    reference: closed(c.reference, line),
    org_nr: open(c.orgNr, t.LongLine()),
    phone: closed(c.phone, t.LongLine()),
    email_admin: closed(c.emailAdmin, t.Email()),
    email: written(c.email, email),
    email_booking: closed(c.emailBooking, email),
    email_more_info: closed(c.emailMoreInfo, email),
    post_address: open(c.postAddress, t.Line(), {
      shown: Address,
      read: (row) => ({ address: row.postAddress, zip: row.postZip, city: row.postCity }),
      reads: ['post_address.address'],
    }),
    post_zip: written(c.postZip, t.Line(), { reads: ['post_address.zip'] }),
    post_city: written(c.postCity, t.Line(), { reads: ['post_address.city'] }),
    visit_address: open(c.visitAddress, line, {
      shown: Address,
      read: (row) => ({ address: row.visitAddress, zip: row.visitZip, city: row.visitCity }),
      reads: ['visit_address.address'],
    }),
    visit_zip: written(c.visitZip, line, { reads: ['visit_address.zip'] }),
    visit_city: written(c.visitCity, line, { reads: ['visit_address.city'] }),
    web_address: open(c.webAddress, Optional(t.Nullable(t.Line({ maxLength: 2_000 })))),
    text_tagline: open(c.textTagline, html),
    text_description: open(c.textDescription, html),
    created_at: closed(c.createdAt),
    updated_at: open(c.updatedAt),
  },
  {
    body:
      'active reference email email_booking email_more_info visit_address visit_zip visit_city web_address ' +
      'text_tagline text_description',
  },
);
export const { inputAliases } = fields;

/** The older interface has no timestamps. */
export const [LegacySchool] = fields.item('LegacySchool', ['created_at', 'updated_at']);

export type School = Static<typeof School>;
export const [School, toSchool] = fields.item('School');

/** PUT /v2/schools, and POST {legacy_base_url}/schools for a sub-school. An optional field sent empty is cleared. */
export type SchoolBody = Static<typeof SchoolBody>;
export const SchoolBody = fields.body('SchoolInput', {
  examples: [
    {
      title: 'Fjord School',
      org_nr: '319876545',
      phone: '+47 55 00 00 00',
      email_admin: 'admin@fjordschool.example',
      post_address: 'Strandgaten 1',
      post_zip: '5004',
      post_city: 'Bergen',
    },
  ],
});
