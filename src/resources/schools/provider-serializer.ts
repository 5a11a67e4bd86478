import { inArray } from 'drizzle-orm';
import { providers } from '../../database/tables/providers.ts';
import { type Key } from '../../lists/loaders.ts';
import { relation, type Include } from '../../lists/relations.ts';
import { Provider, toProvider } from './provider-schema.ts';

const { id, title, webAddress, slug } = providers;

export const providerInclude: Include<Key> = relation.include(
  Provider,
  'shown',
  relation.required(
    relation.belongsTo(
      (row: Key) => row.providerId,
      (ctx, { ids }) =>
        ctx.db.select({ id, title, webAddress, slug }).from(providers).where(inArray(providers.id, ids)),
      toProvider,
    ),
  ),
);
