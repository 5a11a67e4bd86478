import { asc, eq } from 'drizzle-orm';
import type { Ctx } from '../../../database/context.ts';
import { categories, tags } from '../../../database/tables/catalog.ts';
import { inNameOrder } from '../../../database/tables/columns.ts';
import { courses } from '../../../database/tables/courses.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { isPublicCourse } from '../../../domains/courses/visibility/loaders.ts';
import { visibleTags } from '../../../domains/courses/tags/loaders.ts';
import { toTitleTest, type Filter } from './dates/filters.ts';
import { createVersionedCache } from '../../../database/versioned-cache.ts';

/** The school itself, for statements that begin with a tenant. */
export const toSchoolContext = (ctx: Ctx) => ({ ...ctx, providerId: ctx.publishableFor!.id });

const maxCourses = 10_000;

type ListedCourse = { id: number; title: string; updatedAt: string };
const listed = createVersionedCache<ListedCourse[]>(4_000_000);

/** The public courses by title; the first 10,000. */
export const listCourses = (ctx: Ctx) =>
  listed(ctx, '', () =>
    ctx.db
      .select({ id: courses.id, title: courses.title, updatedAt: courses.updatedAt })
      .from(courses)
      .where(tenantWhere(toSchoolContext(ctx), courses, isPublicCourse))
      .orderBy(inNameOrder(courses.title), asc(courses.id))
      .limit(maxCourses),
  );

const topics = createVersionedCache<{ id: number; title: string }[]>(1_000_000);
const topicLoaders = {
  tag: (ctx: Ctx) => ctx.db.select({ id: tags.id, title: tags.title }).from(tags).where(visibleTags(ctx)),
  category: (ctx: Ctx) => ctx.db.select({ id: categories.id, title: categories.title }).from(categories),
};

/** The tags of public courses, or the categories of all schools, that a value names: one's id, or a title. */
export async function findTopics(ctx: Ctx, kind: keyof typeof topicLoaders, value: string): Promise<number[]> {
  const all = await topics(ctx, kind, () => topicLoaders[kind](ctx));
  return all.filter(toTitleTest(value)).map(({ id }) => id);
}

/** False for a tag that no public course has, and an unknown category: no date has them, and none need be read. */
export const hasTopics = async (ctx: Ctx, { tag, category }: Filter) =>
  (tag === undefined || (await findTopics(ctx, 'tag', tag)).length > 0) &&
  (category === undefined || (await findTopics(ctx, 'category', category)).length > 0);

/** Undefined unless the course is public. */
export async function findCourse(ctx: Ctx, id: number) {
  const [found] = await ctx.db
    .select({ id: courses.id, title: courses.title, external_more_info_url: courses.externalMoreInfoUrl })
    .from(courses)
    .where(tenantWhere(toSchoolContext(ctx), courses, eq(courses.id, id), isPublicCourse));
  return found;
}
