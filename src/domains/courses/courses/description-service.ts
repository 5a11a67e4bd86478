import { eq, sql } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import type { Ctx } from '../../../database/context.ts';
import { hasAnyId } from '../../../database/tables/columns.ts';
import { courses, courseTranslations } from '../../../database/tables/courses.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { sanitizeCached } from '../../../core/sanitize-html.ts';
import { keysOf } from '../../../core/schema/types.ts';

/** The translation to the reader's language, or else the original. */
const translatedOrOriginal = (translated: AnyPgColumn, original: AnyPgColumn) =>
  sql<string>`coalesce(nullif(${translated}, ''), ${original})`;
const texts = {
  lead: translatedOrOriginal(courseTranslations.textLead, courses.textLead),
  description: translatedOrOriginal(courseTranslations.textDescription, courses.textDescription),
  audience: translatedOrOriginal(courseTranslations.textAudience, courses.textAudience),
  prerequisites: translatedOrOriginal(courseTranslations.textPrerequisites, courses.textPrerequisites),
  duration: translatedOrOriginal(courseTranslations.textDuration, courses.textDuration),
  credits: translatedOrOriginal(courseTranslations.textCredits, courses.textCredits),
  submissions: translatedOrOriginal(courseTranslations.textSubmissions, courses.textSubmissions),
  place: translatedOrOriginal(courseTranslations.textPlace, courses.textPlace),
  hotelInfo: translatedOrOriginal(courseTranslations.textHotelInfo, courses.textHotelInfo),
};
type TextName = keyof typeof texts;
/** A course's description as sanitized HTML. */
export type Description = { name: TextName; html: string };

/** True for translations to the reader's language. */
const isTranslation = ({ language }: Ctx) =>
  sameTenant(
    courseTranslations,
    courses,
    eq(courseTranslations.courseId, courses.id),
    eq(courseTranslations.languageId, language),
  );

/** The non-empty descriptions of a course, sanitized. */
export async function loadDescriptions(ctx: Ctx, courseId: number): Promise<Description[]> {
  const [found] = await ctx.db
    .select(texts)
    .from(courses)
    .leftJoin(courseTranslations, isTranslation(ctx))
    .where(tenantWhere(ctx, courses, eq(courses.id, courseId)));
  const described: Description[] = [];
  if (!found) return [];
  for (const name of keysOf(found)) described.push({ name, html: await sanitizeCached(found[name]) });
  return described.filter(({ html }) => html !== '');
}

/** The lead of each of the courses, or else its description, sanitized; of a very long one the beginning. */
export async function loadSummaries(ctx: Ctx, courseIds: number[]): Promise<Map<number, string>> {
  if (courseIds.length === 0) return new Map();
  const { lead, description } = texts;
  const found = await ctx.db
    .select({ id: courses.id, html: sql<string>`left(coalesce(nullif(${lead}, ''), ${description}), 2000)` })
    .from(courses)
    .leftJoin(courseTranslations, isTranslation(ctx))
    .where(tenantWhere(ctx, courses, hasAnyId(courses.id, courseIds)));
  const summaries = new Map<number, string>();
  for (const { id, html } of found) summaries.set(id, await sanitizeCached(html));
  return summaries;
}
