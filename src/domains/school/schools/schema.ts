import { Type, type Static } from '@sinclair/typebox';
import { schoolUrl, type CatalogAddress } from '../../../core/catalog-urls.ts';
import { t } from '../../../core/schema/types.ts';
import type { Ctx } from '../../../database/context.ts';
import type { providers } from '../../../database/tables/providers.ts';

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
