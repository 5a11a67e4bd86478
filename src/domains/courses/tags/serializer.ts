import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { relation } from '../../../lists/relations.ts';
import { fetchLabels, fetchTags } from './loaders.ts';
import { Tag } from './schema.ts';

/** The tags of courses. */
export const loadTags = relation.hasMany(fetchTags, ({ id, title }) => ({ id, title }));

/** The internal labels of courses. */
export const includeLabels = relation.include(
  t.member.closed(Type.Array(Tag)),
  relation.hasMany(fetchLabels, ({ id, title }) => ({ id, title })),
);
