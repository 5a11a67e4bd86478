import { asc, sql } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import type { Tx } from '../../database/client.ts';
import * as catalog from '../../database/tables/catalog.ts';
import { replaceLinks } from '../../lists/links.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import { matchFolded } from '../../database/tables/columns.ts';
import { foldText } from '../../core/text.ts';
import type { TagBody, TagInput } from './body-schema.ts';
import { visibleTags, type TagTable } from './loaders.ts';

/** All tags of the provider, or those of the ids, without paging. */
export const listTags = (ctx: Ctx, ids?: number[]) =>
  ctx.db
    .select({ id: catalog.tags.id, title: catalog.tags.title })
    .from(catalog.tags)
    .where(visibleTags(ctx, ids))
    .orderBy(asc(catalog.tags.id));

/** Creates a tag, or returns the one with an equal title (folded). */
export const createTag = (ctx: Ctx, { title }: TagBody) =>
  ctx.write(['catalog'], async (tx, now) => {
    const [found] = await findByTitle(ctx, tx, catalog.tags, [title]);
    if (found) return tx.rollbackNoChange({ tag: { id: found.id, title: found.title }, isNew: false });
    const [created] = await tx
      .insert(catalog.tags)
      .values({ providerId: ctx.providerId, title, createdAt: now, updatedAt: now })
      .returning({ id: catalog.tags.id, title: catalog.tags.title });
    tx.recordAffected(created!.id);
    return { tag: created!, isNew: true };
  });

/** The columns of what `replaceTags` names by id. */
export const tagReferences = { tags: catalog.tags.id, labels: catalog.labels.id };

type TagFields = { tags?: TagInput[] | null | undefined; labels?: TagInput[] | null | undefined };

/** Replaces the tags and the labels of a course, each if it is sent; returns which of them that changed. */
export async function replaceTags(
  ctx: Ctx,
  tx: Tx,
  now: string,
  courseId: number,
  { tags, labels }: TagFields,
): Promise<{ hasOtherTags: boolean; hasOtherLabels: boolean }> {
  const tagIds = tags && (await resolveTags(ctx, tx, now, catalog.tags, tags));
  const labelIds = labels && (await resolveTags(ctx, tx, now, catalog.labels, labels));
  const { courseLabels, courseTags } = catalog;
  return {
    hasOtherLabels:
      labelIds !== undefined && (await replaceLinks(ctx, tx, courseLabels, { courseId }, 'labelId', labelIds ?? [])),
    hasOtherTags:
      tagIds !== undefined && (await replaceLinks(ctx, tx, courseTags, { courseId }, 'tagId', tagIds ?? [])),
  };
}

/** The ids of tags or labels, by id or by title (folded); missing titles are created. */
export async function resolveTags(
  ctx: Ctx,
  tx: Tx,
  now: string,
  table: TagTable,
  inputs: TagInput[],
): Promise<number[]> {
  const titles = inputs.flatMap((input) =>
    typeof input === 'object' && input.id === undefined && input.title !== undefined ? [input.title] : [],
  );
  const ids = new Set(inputs.flatMap((input) => (typeof input === 'number' ? input : (input.id ?? []))));
  if (titles.length > 0) for (const id of await findOrCreate(ctx, tx, now, table, titles)) ids.add(id);
  return [...ids];
}

async function findOrCreate(ctx: Ctx, tx: Tx, now: string, table: TagTable, titles: string[]) {
  const { providerId } = ctx;
  const found = await findByTitle(ctx, tx, table, titles);
  const places = new Set(found.map(({ place }) => place));
  const missing = new Map<string, string>();
  titles.forEach((title, n) => {
    const key = foldText(title);
    if (!places.has(n + 1) && !missing.has(key)) missing.set(key, title);
  });
  if (missing.size === 0) return found.map(({ id }) => id);
  await tx
    .insert(table)
    .values([...missing.values()].map((title) => ({ providerId, title, createdAt: now, updatedAt: now })))
    .onConflictDoNothing();
  return (await findByTitle(ctx, tx, table, titles)).map(({ id }) => id);
}

/**
 * Of each title that exists, folded: its place among the titles from 1 on, and the tag or label. Earlier versions have
 * created several for titles that are now equal: the one that differs in case alone comes first.
 */
function findByTitle(ctx: Ctx, tx: Tx, table: TagTable, titles: string[]) {
  const match = matchFolded(table.title, sql`w.title`);
  return tx
    .selectDistinctOn([sql`w.place`], { place: sql<number>`w.place::int`, id: table.id, title: table.title })
    .from(table)
    .innerJoin(sql`json_array_elements_text(${JSON.stringify(titles)}) with ordinality w (title, place)`, match.isEqual)
    .where(tenantWhere(ctx, table))
    .orderBy(sql`w.place`, match.order, asc(table.id));
}
