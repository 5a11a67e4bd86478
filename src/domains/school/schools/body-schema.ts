import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { providers } from '../../../database/tables/providers.ts';

const { Optional } = Type;

const example = {
  title: 'Fjord School',
  org_nr: '319876545',
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
    title: t.stored(providers.title, t.Title()),
    org_nr: t.stored(providers.orgNr, t.LongLine()),
    phone: t.stored(providers.phone, t.LongLine()),
    email_admin: t.stored(providers.emailAdmin, t.Email()),
    post_address: t.stored(providers.postAddress, t.Line()),
    post_zip: t.stored(providers.postZip, t.Line()),
    post_city: t.stored(providers.postCity, t.Line()),
    active: t.stored(
      providers.isActive,
      Optional(Type.Boolean({ default: true, description: 'true unless sent, also in an update' })),
    ),
    reference: t.stored(providers.reference, Optional(t.Nullable(t.Line()))),
    email: t.stored(providers.email, Optional(t.Nullable(t.Email()))),
    email_booking: t.stored(providers.emailBooking, Optional(t.Nullable(t.Email()))),
    email_more_info: t.stored(providers.emailMoreInfo, Optional(t.Nullable(t.Email()))),
    visit_address: t.stored(providers.visitAddress, Optional(t.Nullable(t.Line()))),
    visit_zip: t.stored(providers.visitZip, Optional(t.Nullable(t.Line()))),
    visit_city: t.stored(providers.visitCity, Optional(t.Nullable(t.Line()))),
    web_address: t.stored(providers.webAddress, Optional(t.Nullable(t.Line({ maxLength: 2_000 })))),
    text_tagline: t.stored(providers.textTagline, Optional(t.Nullable(t.Html()))),
    text_description: t.stored(providers.textDescription, Optional(t.Nullable(t.Html()))),
  },
  { examples: [example] },
);
