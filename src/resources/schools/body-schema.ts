import { Type, type Static } from '@sinclair/typebox';
import * as t from '../../core/schema/types.ts';

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
