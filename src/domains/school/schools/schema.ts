import { Type, type Static } from '@sinclair/typebox';
import { schoolUrl, type CatalogAddress } from '../../../core/catalog-urls.ts';
import { t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import type { Ctx } from '../../../database/context.ts';
import type { providers } from '../../../database/tables/providers.ts';

const text = Type.String();
const Address = t.NamedObject('SchoolAddress', t.member.open.all({ address: text, zip: text, city: text }));

/** The older interface has no timestamps. */
export const LegacySchool = t.NamedObject('LegacySchool', {
  title: t.member.open(text),
  ...t.member.closed.all({ active: Type.Boolean(), reference: t.Nullable(text) }),
  org_nr: t.member.open(text),
  ...t.member.closed.all({ phone: text, email_admin: text, email_booking: text, email_more_info: text }),
  ...t.member.open.all({
    post_address: Address,
    visit_address: Address,
    web_address: text,
    text_tagline: text,
    text_description: text,
  }),
});

export type School = Static<typeof School>;
export const School = t.NamedObject('School', {
  ...LegacySchool.properties,
  created_at: t.member.closed(t.DateTime),
  updated_at: t.member.open(t.DateTime),
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

/** The public part of a school, as embedded in lists. */
export type Provider = Static<typeof Provider>;
export const Provider = t.NamedObject(
  'Provider',
  t.member.open.all({
    id: Type.Integer(),
    title: Type.String(),
    web_address: Type.String(),
    catalog_url: t.Nullable(Type.String()),
  }),
);

type ProviderRow = Pick<typeof providers.$inferSelect, 'id' | 'title' | 'webAddress' | 'slug'> & {
  /** Null unless it is on. */
  catalog: CatalogAddress | null;
};

export const toProvider = ({ id, title, webAddress, slug, catalog }: ProviderRow, { settings }: Ctx): Provider => ({
  id,
  title,
  web_address: webAddress,
  catalog_url: schoolUrl(settings, catalog, slug),
});
