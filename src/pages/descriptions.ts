import { and, eq, sql } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import { setImmediate as pause } from 'node:timers/promises';
import type { Ctx } from '../core/context.ts';
import { courses, courseTranslations } from '../database/tables/courses.ts';
import { tenantWhere } from '../lists/tenant-scope.ts';
import { safeHtml } from './html.ts';

/** In the reader's language where the course has been translated. */
const inLanguage = (translated: AnyPgColumn, original: AnyPgColumn) =>
  sql<string>`coalesce(nullif(${translated}, ''), ${original})`;
const texts = {
  lead: inLanguage(courseTranslations.textLead, courses.textLead),
  description: inLanguage(courseTranslations.textDescription, courses.textDescription),
  prerequisites: inLanguage(courseTranslations.textPrerequisites, courses.textPrerequisites),
  submissions: inLanguage(courseTranslations.textSubmissions, courses.textSubmissions),
  place: inLanguage(courseTranslations.textPlace, courses.textPlace),
  hotelInfo: inLanguage(courseTranslations.textHotelInfo, courses.textHotelInfo),
};
type TextName = keyof typeof texts;
/** One of a course's texts that is not empty, as HTML that may stand in a page. */
export type Description = { name: TextName; html: string };

/** What a course says of itself. */
export async function describeCourse(ctx: Ctx, courseId: number): Promise<Description[]> {
  const [found] = await ctx.db
    .select(texts)
    .from(courses)
    .leftJoin(
      courseTranslations,
      and(
        eq(courseTranslations.providerId, courses.providerId),
        eq(courseTranslations.courseId, courses.id),
        eq(courseTranslations.languageId, ctx.language),
      ),
    )
    .where(tenantWhere(ctx, courses, eq(courses.id, courseId)));
  const described: Description[] = [];
  for (const [name, html] of Object.entries(found ?? {}) as [TextName, string][])
    described.push({ name, html: await sanitized(html) });
  return described.filter(({ html }) => html !== '');
}

/** By what was sanitized, in characters altogether. */
const known = new LRUCache<string, string>({ maxSize: 10_000_000, sizeCalculation: (html) => html.length + 100 });

/** Each text is worked on once, and other requests get their turn after it. */
async function sanitized(html: string): Promise<string> {
  const key = createHash('sha256').update(html).digest('base64');
  const before = known.get(key);
  if (before !== undefined) return before;
  const safe = safeHtml(html);
  known.set(key, safe);
  await pause();
  return safe;
}
