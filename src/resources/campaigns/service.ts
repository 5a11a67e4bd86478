import { asc, desc, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import { Problem } from '../../core/errors.ts';
import { campaigns } from '../../database/tables/campaigns.ts';
import { caseFolded } from '../../database/tables/columns.ts';
import { courseDates } from '../../database/tables/coursedates.ts';
import { courses } from '../../database/tables/courses.ts';
import { newBudget } from '../../lists/response-budget.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import { toEmbeddedCampaign } from './schema.ts';
import { campaignColumns, isForCourse } from './loaders.ts';
import { campaignSerializer } from './serializer.ts';

/** All campaigns of the provider, or those of the ids, without paging. */
export async function listCampaigns(ctx: Ctx, ids?: number[]) {
  const rows = await ctx.db
    .select(campaignColumns)
    .from(campaigns)
    .where(tenantWhere(ctx, campaigns, ids && inArray(campaigns.id, ids)))
    .orderBy(asc(campaigns.id));
  return campaignSerializer.embed({ ...ctx, budget: newBudget() }, rows, {}, []);
}

/** Finds a campaign of the course by its code, running or not; archived ones come last. */
export async function validateCampaign(ctx: Ctx, code: string, target: { coursedate_id?: number; course_id?: number }) {
  const courseId = await findCourseId(ctx, target);
  const named = tenantWhere(ctx, campaigns, sql`${caseFolded(campaigns.campaignCode)} = ${caseFolded(code)}`);
  const forCourse = sql<boolean>`${sql.raw(isForCourse(String(ctx.providerId), 'campaigns', String(courseId)))}`;
  const [found] = await ctx.db
    .select({ campaign: campaignColumns, forCourse })
    .from(campaigns)
    .where(named)
    .orderBy(asc(campaigns.isArchived), desc(campaigns.id))
    .limit(1);
  if (!found) throw Problem.notFound('Campaign');
  if (!found.forCourse) {
    const message = 'The campaign is not for this course';
    throw new Problem('invalid', message, { errors: [{ code: 'campaign_code_invalid', message }] });
  }
  return { successful: true, campaign: { ...toEmbeddedCampaign(found.campaign), id: String(found.campaign.id) } };
}

async function findCourseId(ctx: Ctx, { coursedate_id, course_id }: { coursedate_id?: number; course_id?: number }) {
  if (coursedate_id !== undefined) {
    const date = tenantWhere(ctx, courseDates, eq(courseDates.id, coursedate_id), isNull(courseDates.deletedAt));
    const [row] = await ctx.db.select({ courseId: courseDates.courseId }).from(courseDates).where(date);
    if (!row) throw Problem.notFound('Course date');
    return row.courseId;
  }
  if (course_id === undefined) {
    const message = 'coursedate_id or course_id is missing';
    throw new Problem('invalid', message, { errors: [{ code: 'missing_course_id', message }] });
  }
  const course = tenantWhere(ctx, courses, eq(courses.id, course_id), isNull(courses.deletedAt));
  const [row] = await ctx.db.select({ id: courses.id }).from(courses).where(course);
  if (!row) throw Problem.notFound('Course');
  return row.id;
}
