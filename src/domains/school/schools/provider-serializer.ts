import { and, eq } from 'drizzle-orm';
import { member } from '../../../core/schema/types.ts';
import type { Ctx } from '../../../database/context.ts';
import { hasAnyId } from '../../../database/tables/columns.ts';
import { catalogSettings, providers } from '../../../database/tables/providers.ts';
import type { Key } from '../../../lists/loaders.ts';
import { relation, type Include } from '../../../lists/relations.ts';
import { Provider, toProvider } from './schema.ts';

const { id, title, webAddress, slug } = providers;

const fetchProviders = (ctx: Pick<Ctx, 'db'>, { ids }: { ids: number[] }) =>
  ctx.db
    .select({ id, title, webAddress, slug, catalog: { slug: catalogSettings.slug, host: catalogSettings.host } })
    .from(providers)
    .leftJoin(catalogSettings, and(eq(catalogSettings.providerId, providers.id), eq(catalogSettings.isEnabled, true)))
    .where(hasAnyId(providers.id, ids));

export const providerInclude: Include<Key> = relation.include(
  member.open(Provider),
  relation.required(relation.belongsTo((row: Key) => row.providerId, fetchProviders, toProvider)),
);
