import { Type } from '@sinclair/typebox';
import { OneOf, Title } from '../../../core/schema/types.ts';
import type { Database } from '../../../database/client.ts';
import { countryCodes } from '../../../core/schema/codes.ts';
import { findOrAddCategory } from '../../../domains/courses/courses/category-service.ts';
import { findOrAddPlace } from '../../../domains/courses/places/service.ts';
import { Ref, type Fields, type SingleRecordType } from '../record-type.ts';
import { Slug } from './table-fields.ts';

const { Optional } = Type;

/** Places are shared data: a line finds an existing one or adds one for all providers. */
export const place: SingleRecordType = {
  kind: 'place',
  schema: Type.Object({
    title: Title(),
    country: Optional(OneOf(countryCodes, { default: 'NO' })),
    parent_id: Optional(Ref),
  }),
  references: { parent_id: 'place' },
  create: (database, _, fields) => {
    const { title, country, parent_id: parentId = null } = fields as Place;
    return findOrAddPlace(database, { title, country, parentId });
  },
  export: (database, providerId) => {
    const idQueries = ['locations', 'course_dates'].map(
      (table) => `select place_id from ${table} where provider_id = $1`,
    );
    return loadWithAncestors(database, 'places', idQueries.join(' union '), providerId);
  },
};
type Place = { title: string; country: string; parent_id?: number };

/** Categories are shared data: a line finds the category of its title and parent, or adds it under a free slug. */
export const category: SingleRecordType = {
  kind: 'category',
  schema: Type.Object({
    title: Title(),
    slug: Optional(Slug),
    parent_id: Optional(Ref),
  }),
  references: { parent_id: 'category' },
  create: (database, _, fields) => {
    const { title, slug, parent_id: parentId = null } = fields as Category;
    return findOrAddCategory(database, { title, ...(slug === undefined ? {} : { slug }), parentId });
  },
  export: (database, providerId) =>
    loadWithAncestors(
      database,
      'categories',
      'select category_id from course_categories where provider_id = $1',
      providerId,
    ),
};
type Category = { title: string; slug?: string; parent_id?: number };

/** Rows of a shared tree that `idQuery` selects, with their ancestors, parents first. */
async function loadWithAncestors(
  { pool }: Database,
  table: 'places' | 'categories',
  idQuery: string,
  providerId: number,
) {
  const { rows } = await pool.query<{ row: Fields }>(
    `with recursive tree as (
       select t.* from ${table} t where t.id in (${idQuery})
       union select p.* from ${table} p join tree on p.id = tree.parent_id
     ) select to_jsonb(tree) as row from tree order by id`,
    [providerId],
  );
  return rows.map(({ row: { id, title, country, slug, parent_id: parentId } }) => ({
    ref: String(id as number),
    ...(table === 'places' ? { title, country } : { title, slug }),
    parent_id: parentId === null ? null : String(parentId as number),
  }));
}
