import { and, asc, eq, inArray, sql, type SQL } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import * as catalog from '../../../database/tables/catalog.ts';
import { campaignTags } from '../../../database/tables/campaigns.ts';
import { courses } from '../../../database/tables/courses.ts';
import { importRefs } from '../../../database/tables/imports.ts';
import { replaceLinks } from '../../../lists/links.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { defineTimestampFilters, type TimestampQuery } from '../../../lists/list-query.ts';
import { matchFolded, omitColumns } from '../../../database/tables/columns.ts';
import { foldText } from '../../../core/text.ts';
import { toListedTag, type TagBody, type TagChange, type TagInput } from './fields.ts';
import { visibleTags, type TagTable } from './loaders.ts';

export const tagFilters = defineTimestampFilters(catalog.tags);

const columns = omitColumns(catalog.tags, ['providerId', 'createdAt']);

async function selectTags(ctx: Ctx, condition: SQL | undefined) {
  const visible = and(visibleTags(ctx), condition);
  const rows = await ctx.db.select(columns).from(catalog.tags).where(visible).orderBy(asc(catalog.tags.id));
  return rows.map((row) => toListedTag(row, undefined, ctx));
}

/** All tags of the provider, without paging. */
export const listTags = (ctx: Ctx, query: TimestampQuery) => selectTags(ctx, tagFilters.where(ctx, query));

export const findTag = async (ctx: Ctx, id: number) => (await selectTags(ctx, eq(catalog.tags.id, id)))[0];

export const getTag = async (ctx: Ctx, id: number) => Problem.assertFound(await findTag(ctx, id), 'Tag');

/** Creates a tag, or returns the one with an equal title (folded). */
export const createTag = (ctx: Ctx, { title }: TagBody) =>
  ctx.write(['catalog'], async (w) => {
    const { tx, now } = w;
    const [found] = await findByTitle(w, catalog.tags, [title]);
    if (found) return tx.rollBack({ tag: await getTag({ ...ctx, db: tx }, found.id), isNew: false });
    const [created] = await tx
      .insert(catalog.tags)
      .values({ providerId: ctx.providerId, title, createdAt: now, updatedAt: now })
      .returning(columns);
    tx.auditItem(created!.id);
    return { tag: toListedTag(created!, undefined, ctx), isNew: true };
  });

/** Renames a tag; throws if another has an equal title (folded). */
export const renameTag = (ctx: Ctx, id: number, { title }: TagChange) =>
  ctx.write(['catalog'], async (w) => {
    const { tx, now } = w;
    const tag = await getTag({ ...ctx, db: tx }, id);
    if (title === undefined) return tx.rollBack(tag);
    const [found] = await findByTitle(w, catalog.tags, [title]);
    if (found && found.id !== id)
      throw Problem.coded('equal_title', `Tag ${found.id} has this title`, {
        ...{ notValid: ['title'], conflictsWith: found.id },
      });
    const named = tenantWhere(ctx, catalog.tags, eq(catalog.tags.id, id));
    const changed = await tx.updateChanged(catalog.tags, named, { title }, now);
    return changed === 0 ? tx.rollBack(tag) : getTag({ ...ctx, db: tx }, id);
  });

/** Deletes a tag and returns it; courses lose it. Throws while a campaign is for its courses. */
export const deleteTag = (ctx: Ctx, id: number) =>
  ctx.write(['catalog'], async ({ tx, now }) => {
    const { courseTags, tags } = catalog;
    const tag = await getTag({ ...ctx, db: tx }, id);
    const limited = await tx
      .select({ id: campaignTags.campaignId })
      .from(campaignTags)
      .where(tenantWhere(ctx, campaignTags, eq(campaignTags.tagId, id)))
      .orderBy(asc(campaignTags.campaignId))
      .limit(maxNamed);
    // Without its tags a campaign would be for all courses.
    if (limited.length > 0)
      throw Problem.coded(
        'tag_in_use',
        `Campaigns are for courses of the tag: ${limited.map((one) => one.id).join(',')}`,
      );
    const links = tenantWhere(ctx, courseTags, eq(courseTags.tagId, id));
    const tagged = tx.select({ id: courseTags.courseId }).from(courseTags).where(links);
    await tx
      .update(courses)
      .set({ updatedAt: now })
      .where(tenantWhere(ctx, courses, inArray(courses.id, tagged)));
    await tx.delete(courseTags).where(links);
    // An import of the same file creates it again.
    await tx
      .delete(importRefs)
      .where(tenantWhere(ctx, importRefs, eq(importRefs.kind, 'tag'), eq(importRefs.itemId, id)));
    await tx.delete(tags).where(tenantWhere(ctx, tags, eq(tags.id, id)));
    return tag;
  });

/** Campaigns that an error names. */
const maxNamed = 10;

/** The columns of what `replaceTags` names by id. */
export const tagReferences = { tags: catalog.tags.id, labels: catalog.labels.id };

type TagFields = { tags?: TagInput[] | null | undefined; labels?: TagInput[] | null | undefined };

/** Replaces the tags and the labels of a course, each if it is sent; returns which of them that changed. */
export async function replaceTags(
  w: WriteCtx,
  courseId: number,
  { tags, labels }: TagFields,
): Promise<{ hasOtherTags: boolean; hasOtherLabels: boolean }> {
  const tagIds = tags && (await resolveTags(w, catalog.tags, tags));
  const labelIds = labels && (await resolveTags(w, catalog.labels, labels));
  const { courseLabels, courseTags } = catalog;
  return {
    hasOtherLabels:
      labelIds !== undefined && (await replaceLinks(w, courseLabels, { courseId }, 'labelId', labelIds ?? [])),
    hasOtherTags: tagIds !== undefined && (await replaceLinks(w, courseTags, { courseId }, 'tagId', tagIds ?? [])),
  };
}

/** The ids of tags or labels, by id or by title (folded); missing titles are created. */
export async function resolveTags(w: WriteCtx, table: TagTable, inputs: TagInput[]): Promise<number[]> {
  const titles = inputs.flatMap((input) =>
    typeof input === 'object' && input.id === undefined && input.title !== undefined ? [input.title] : [],
  );
  const ids = new Set(inputs.flatMap((input) => (typeof input === 'number' ? input : (input.id ?? []))));
  if (titles.length > 0) for (const id of await findOrCreate(w, table, titles)) ids.add(id);
  return [...ids];
}

async function findOrCreate(w: WriteCtx, table: TagTable, titles: string[]) {
  const { providerId } = w;
  const found = await findByTitle(w, table, titles);
  const places = new Set(found.map(({ place }) => place));
  const missing = new Map<string, string>();
  titles.forEach((title, n) => {
    const key = foldText(title);
    if (!places.has(n + 1) && !missing.has(key)) missing.set(key, title);
  });
  if (missing.size === 0) return found.map(({ id }) => id);
  await w.tx
    .insert(table)
    .values([...missing.values()].map((title) => ({ providerId, title, createdAt: w.now, updatedAt: w.now })))
    .onConflictDoNothing();
  return (await findByTitle(w, table, titles)).map(({ id }) => id);
}

/** Finds the tags or labels with these titles, folded, with the place of each among the titles from 1 on. */
function findByTitle(w: WriteCtx, table: TagTable, titles: string[]) {
  const { isEqual } = matchFolded(table.title, sql`w.title`);
  return w.tx
    .select({ place: sql<number>`w.place::int`, id: table.id, title: table.title })
    .from(table)
    .innerJoin(sql`json_array_elements_text(${JSON.stringify(titles)}) with ordinality w (title, place)`, isEqual)
    .where(tenantWhere(w, table))
    .orderBy(sql`w.place`);
}
