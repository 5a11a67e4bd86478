import { and, eq, inArray } from 'drizzle-orm';
import type { Ctx } from '../../../database/context.ts';
import { catalogSettings, providers } from '../../../database/tables/providers.ts';

const { id, title, webAddress, slug } = providers;

export const fetchProviders = (ctx: Pick<Ctx, 'db'>, { ids }: { ids: number[] }) =>
  ctx.db
    .select({ id, title, webAddress, slug, catalog: { slug: catalogSettings.slug, host: catalogSettings.host } })
    .from(providers)
    .leftJoin(catalogSettings, and(eq(catalogSettings.providerId, providers.id), eq(catalogSettings.isEnabled, true)))
    .where(inArray(providers.id, ids));
