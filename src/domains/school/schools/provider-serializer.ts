import { member } from '../../../core/schema/types.ts';
import type { Key } from '../../../lists/loaders.ts';
import { relation, type Include } from '../../../lists/relations.ts';
import { fetchProviders } from './provider-loaders.ts';
import { Provider, toProvider } from './schema.ts';

export const providerInclude: Include<Key> = relation.include(
  member.open(Provider),
  relation.required(relation.belongsTo((row: Key) => row.providerId, fetchProviders, toProvider)),
);
